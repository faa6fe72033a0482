// Draws each chart from the JSON beside it, in the colours of the style sheet, and again when those change.
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
		const s = Math.round(seconds);
		const two = n => String(n).padStart(2, '0');
		return s < 3600 ? `${Math.floor(s / 60)}:${two(s % 60)}` : `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
	};
	const figure = v => v == null ? '–' : v.toLocaleString('en', {maximumSignificantDigits: 5});

	function options(c) {
		const ink = colour('ink'), faint = colour('faint'), rule = colour('rule');
		const axis = {
			axisLabel: {color: faint}, nameTextStyle: {color: faint},
			axisLine: {lineStyle: {color: rule}}, splitLine: {lineStyle: {color: rule}},
		};
		// A band too narrow for its name has none.
		const length = Math.max(0, ...c.lines.flatMap(l => l.points.map(([x]) => x)));
		const bands = (c.bands || []).map(b => [
			{name: b.to - b.from > length / 15 ? b.name : '', xAxis: b.from, itemStyle: {color: colour(b.window ? 'window' : 'phase')}},
			{xAxis: b.to},
		]);
		const marks = (c.marks || []).map(m => ({name: m.name, xAxis: m.x}));
		const time = !c.labels && !c.xName;
		return {
			animation: !still.matches,
			aria: {enabled: true, label: {description: c.text}},
			textStyle: {fontFamily: 'system-ui, sans-serif', color: ink},
			grid: {left: 16, right: 24, top: 48, bottom: time ? 64 : 24, containLabel: true},
			legend: {top: 0, type: 'scroll', textStyle: {color: ink}, inactiveColor: faint, data: c.lines.map(l => l.name)},
			tooltip: {
				trigger: 'axis', confine: true, backgroundColor: colour('paper'), borderColor: rule, textStyle: {color: ink},
				axisPointer: {lineStyle: {color: faint}}, valueFormatter: figure,
			},
			dataZoom: !time ? [] : [{
				type: 'slider', height: 18, bottom: 8, labelFormatter: clock, textStyle: {color: faint}, borderColor: rule,
			}],
			xAxis: c.labels
				? {...axis, type: 'category', data: c.labels, boundaryGap: false}
				: {...axis, type: 'value', name: c.xName, nameLocation: 'middle', nameGap: 28, min: 0, max: 'dataMax', splitLine: {show: false},
					axisLabel: {color: faint, formatter: time ? clock : figure}, axisPointer: {label: {formatter: p => (time ? clock : figure)(p.value)}}},
			yAxis: {...axis, type: c.log ? 'log' : 'value', name: c.yName, axisLabel: {color: faint, formatter: figure}},
			series: c.lines.map((l, i) => ({
				name: l.name, type: 'line', showSymbol: !time, connectNulls: false,
				data: c.log ? l.points.map(([x, y]) => [x, y > 0 ? y : null]) : l.points,
				color: colour(`line${i % 8 + 1}`),
				lineStyle: {width: l.thin ? 1 : 2, opacity: l.thin ? 0.7 : 1},
				markArea: i === 0 && bands.length ? {silent: true, label: {color: faint, position: 'insideTop'}, data: bands} : undefined,
				markLine: i === 0 && marks.length ? {silent: true, symbol: 'none', label: {color: ink, formatter: '{b}'}, lineStyle: {color: faint}, data: marks} : undefined,
			})),
		};
	}

	const drawn = [...document.querySelectorAll('.plot')].map(element => {
		const data = JSON.parse(document.getElementById(element.id + '-data').textContent);
		const instance = echarts.init(element, null, {renderer: 'svg'});
		element.setAttribute('role', 'img');
		return {data, instance};
	});
	const draw = () => drawn.forEach(d => d.instance.setOption(options(d.data), true));
	const resize = () => drawn.forEach(d => d.instance.resize({animation: {duration: 0}}));
	draw();
	dark.addEventListener('change', draw);
	addEventListener('resize', resize);
	matchMedia('print').addEventListener('change', () => { draw(); resize(); });
})();
