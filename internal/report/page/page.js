// Draws each chart from the JSON beside it, in the colours of the style sheet, and again when those change. The live page gives
// it charts by ds2.add, without a slider, and changes their data.
'use strict';
(() => {
	const dark = matchMedia('(prefers-color-scheme: dark)');
	const still = matchMedia('(prefers-reduced-motion: reduce)');

	// ECharts takes no light-dark(): a throw-away element tells what a variable means now.
	const probe = document.body.appendChild(document.createElement('span'));
	probe.hidden = true;
	const colour = name => {
		probe.style.color = `var(--${name})`;
		return getComputedStyle(probe).color;
	};

	const clock = seconds => {
		const s = Math.abs(Math.round(seconds)), sign = seconds < -0.5 ? '−' : '';
		const two = n => String(n).padStart(2, '0');
		return sign + (s < 3600 ? `${Math.floor(s / 60)}:${two(s % 60)}` : `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`);
	};
	const figure = v => v == null ? '–' : v.toLocaleString('en', {maximumSignificantDigits: 5});

	// Ticks of a time axis stand at whole tens of seconds, minutes or hours, however much of it is shown.
	const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400];
	const ticks = (from, to, width) => {
		const step = steps.find(s => (to - from) / s <= Math.max(width / 80, 3)) || 7 * 86400;
		const values = [];
		for (let s = Math.ceil(from / step) * step; s <= to; s += step) values.push(s);
		return {axisTick: {customValues: values}, axisLabel: {customValues: values}};
	};

	const dashes = ['solid', 'dashed', 'dotted'];

	// How many rows the legend takes, by the width of its names: it wraps, and the plot below makes room.
	const legendRows = (c, width) => {
		let rows = 1, used = 0;
		for (const name of new Set(c.lines.map(l => l.name))) {
			const needed = 7 * name.length + 40;
			if (used + needed > width && used) { rows++; used = 0; }
			used += needed;
		}
		return rows;
	};

	// What a tooltip says of lines that share a name: each by what it is of the name's.
	const values = c => points => {
		const box = document.createElement('div');
		points.forEach((p, i) => {
			const l = c.lines[p.seriesIndex], row = document.createElement('div');
			if (i === 0) box.appendChild(document.createElement('b')).textContent = clock(p.value[0]);
			row.textContent = `${l.name} ${l.what || ''}: ${figure(p.value[1])}`;
			row.style.color = p.color;
			box.appendChild(row);
		});
		return box;
	};

	function options(c, element, paper) {
		const legend = 20 * (legendRows(c, element.clientWidth) - 1);
		const ink = colour('ink'), faint = colour('faint'), rule = colour('rule');
		const axis = {
			axisLabel: {color: faint}, nameTextStyle: {color: faint},
			axisLine: {lineStyle: {color: rule}}, splitLine: {lineStyle: {color: rule}},
		};
		const time = !c.labels && !c.xName;
		const zoom = element.classList.contains('zoomed') && !paper;
		// A band too narrow for its name has none.
		const bands = (c.bands || []).map(b => [
			{name: b.to - b.from > (c.to - c.from) / 12 ? b.name : '', xAxis: b.from, itemStyle: {color: colour(b.window ? 'window' : 'phase')}},
			{xAxis: b.to},
		]);
		const marked = [...(c.verticals || []).map(m => ({name: m.name, xAxis: m.at})), ...(c.levels || []).map(m => ({name: m.name, yAxis: m.at}))];
		const dotted = c.lines.some(l => l.dots), columns = c.lines.some(l => l.wide), small = columns && element.clientHeight < 200;
		const width = c.names && (element.clientWidth - 100) / c.names.length, wraps = c.names?.some(n => 7 * n.length > width);
		const names = c.names ? {
			min: 0.5, max: c.names.length + 0.5, axisTick: {show: false},
			axisLabel: {color: faint, customValues: c.names.map((_, i) => i + 1), formatter: v => c.names[v - 1], width, overflow: 'break', lineHeight: 14},
		} : {};
		// The shape of a line's points: none on a time axis, dots or rings where they stand alone, whiskers at the ends of an error bar.
		const shape = l => l.wide ? {type: 'bar', barGap: '-100%', barWidth: Math.min(64, (element.clientWidth - 120) / (2 * c.names.length))} : l.bars ? {type: 'line', symbol: 'rect', symbolSize: [10, 2], showSymbol: true}
			: l.dots ? {type: 'scatter', symbol: l.hollow ? 'emptyCircle' : 'circle', symbolSize: 8, z: 4}
				: {type: 'line', showSymbol: !time && !dotted, symbol: time || dotted ? 'none' : 'circle'};
		return {
			animation: !still.matches && !paper && !c.live,
			aria: {enabled: true, label: {description: c.text}},
			textStyle: {fontFamily: 'system-ui, sans-serif', color: ink},
			grid: columns ? {left: small ? 48 : 64, right: 8, top: small ? 8 : 32, bottom: wraps ? 40 : 24} : {left: 64, right: 24, top: 56 + legend, bottom: zoom ? 88 : 48},
			legend: {
				show: !columns, top: 0, type: 'plain', itemWidth: 24, itemHeight: 8, textStyle: {color: ink}, inactiveColor: faint,
				data: [...new Set(c.lines.map(l => l.name))],
			},
			tooltip: {
				trigger: 'axis', confine: true, backgroundColor: colour('paper'), borderColor: rule, textStyle: {color: ink},
				axisPointer: {lineStyle: {color: faint}}, valueFormatter: figure, formatter: c.lines.some(l => l.what) ? values(c) : undefined,
			},
			dataZoom: !time || c.live ? [] : [{type: 'slider', show: zoom, height: 18, bottom: 8, labelFormatter: clock, textStyle: {color: faint}, borderColor: rule}],
			xAxis: c.labels
				? {...axis, type: 'category', data: c.labels, boundaryGap: false, name: c.xName, nameLocation: 'middle', nameGap: 28}
				: {
					...axis, type: 'value', name: columns ? '' : c.xName || c.since || 'time since the users started', nameLocation: 'middle', nameGap: 28,
					splitLine: {show: false}, axisPointer: {label: {formatter: p => (time ? clock : figure)(p.value)}},
					min: time ? c.from : 0, max: time ? c.to : v => Math.ceil(1.05 * v.max), axisLabel: {color: faint, formatter: time ? clock : figure}, ...names,
				},
			yAxis: {...axis, axisLine: {onZero: false, lineStyle: {color: rule}}, type: c.log ? 'log' : 'value', scale: c.near, ...(c.live && c.levels ? {min: 0, max: v => Math.max(v.max || 0, ...c.levels.map(l => 1.05 * l.at))} : {}), name: small ? '' : c.yName, splitNumber: small ? 2 : zoom && element.clientHeight < 320 ? 3 : 5, axisLabel: {color: faint, formatter: figure, showMaxLabel: c.live && c.levels ? false : undefined}},
			series: c.lines.map((l, i) => ({
				name: l.name, ...shape(l), connectNulls: false,
				data: c.log ? l.points.map(([x, y]) => [x, y > 0 ? y : null]) : l.points,
				color: l.faint ? 'transparent' : colour(`line${l.hue % 8 + 1}`),
				itemStyle: l.faint ? {borderColor: faint, borderType: 'dashed', decal: {color: rule, dashArrayX: [1, 0], dashArrayY: [2, 5], rotation: Math.PI / 4}} : {},
				lineStyle: {width: l.thin ? 1 : 2, opacity: l.thin ? 0.7 : 1, type: dashes[l.dash % dashes.length]},
				markArea: i === 0 && bands.length ? {silent: true, label: {color: faint, position: 'top', distance: 2}, data: bands} : undefined,
				markLine: i === 0 && marked.length ? {silent: true, symbol: 'none', label: {color: ink, formatter: '{b}', position: 'insideStartTop'}, lineStyle: {color: faint}, data: marked} : undefined,
			})),
		};
	}

	// The time charts of a run show the same time and point at the same second; the first of them has the slider.
	const runs = new Set();
	const paper = matchMedia('print');
	const drawn = [];
	const draw = d => {
		if (!d.element.clientWidth) return; // folded
		d.instance.resize({animation: {duration: 0}});
		d.instance.setOption(options(d.data, d.element, paper.matches), true);
		if (d.instance.group) d.instance.setOption({xAxis: ticks(d.data.from, d.data.to, d.element.clientWidth)});
	};
	const drawAll = () => drawn.forEach(draw);
	const add = (element, data) => {
		const time = !data.labels && !data.xName, run = element.closest('article').id;
		if (time && !data.live && !runs.has(run)) element.classList.add('zoomed');
		const instance = echarts.init(element, null, {renderer: 'svg'});
		element.setAttribute('role', 'img');
		if (time) {
			runs.add(run);
			instance.group = run;
			instance.on('datazoom', () => {
				const {startValue, endValue} = instance.getOption().dataZoom[0];
				instance.setOption({xAxis: ticks(startValue, endValue, element.clientWidth)});
			});
		}
		const d = {data, element, instance, draw: () => draw(d), remove: () => {
			drawn.splice(drawn.indexOf(d), 1);
			instance.dispose();
		}};
		drawn.push(d);
		return d;
	};
	// open draws the charts of a part of the page. On a phone a figure says what it is of.
	const open = part => {
		part.querySelectorAll('.figures table').forEach(t => {
			const head = [...(t.tHead ? t.tHead.rows[0].cells : [])].map(c => c.textContent);
			t.querySelectorAll('td').forEach(d => { d.dataset.of = head[d.cellIndex]; });
		});
		return [...part.querySelectorAll('.plot')].map(element => add(element, JSON.parse(document.getElementById(element.id + '-data').textContent)));
	};
	open(document);
	// A button that opens all that is folded below the first screen, or folds it again.
	document.querySelectorAll('.rest').forEach(rest => {
		const parts = [...rest.querySelectorAll(':scope > details')], button = document.createElement('button');
		const name = () => { button.textContent = parts.every(p => p.open) ? 'Close all' : `Open all ${parts.length} sections`; };
		button.type = 'button';
		button.addEventListener('click', () => {
			const to = !parts.every(p => p.open);
			parts.forEach(p => { p.open = to; });
			name();
		});
		name();
		if (parts.length > 1) rest.prepend(button);
	});
	runs.forEach(run => echarts.connect(run));
	drawAll();
	dark.addEventListener('change', drawAll);
	addEventListener('resize', drawAll);
	paper.addEventListener('change', drawAll);
	document.querySelectorAll('details').forEach(d => d.addEventListener('toggle', () => drawn.filter(c => d.contains(c.element)).forEach(draw)));
	globalThis.ds2 = {add, open, clock};
})();
