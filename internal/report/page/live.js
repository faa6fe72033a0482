// Shows what the command is at, as it comes from the server, second by second.
'use strict';
(() => {
	const by = id => document.getElementById(id);
	const text = (id, s) => { by(id).textContent = s || ''; };
	const make = (name, s, of) => {
		const e = of.appendChild(document.createElement(name));
		e.textContent = s;
		return e;
	};
	// The body of a table, a row for each; hidden where there is none.
	const rows = (id, all, fill) => {
		by(id).hidden = !(all || []).length;
		by(id).tBodies[0].replaceChildren(...(all || []).map(one => {
			const row = document.createElement('tr');
			fill(one, row);
			return row;
		}));
	};
	let charts = [], found = [], ended = false, waiting = 0;

	// What is known so far, as the first screen of the report has it.
	const find = part => {
		found.forEach(c => c.remove());
		by('found').hidden = !part;
		by('found').innerHTML = part;
		found = ds2.open(by('found'));
		found.forEach(c => c.draw());
	};

	// A new run, or the first: its charts, with all that they have shown so far.
	const begin = show => {
		charts.forEach(c => c.remove());
		by('charts').replaceChildren();
		text('command', show.command);
		text('title', show.title);
		document.title = show.title ? `${show.command}: ${show.title}` : show.command;
		charts = (show.charts || []).map(data => {
			const section = make('section', '', by('charts'));
			section.className = 'chart';
			make('h3', data.title, section);
			const plot = make('div', '', section);
			plot.className = 'plot';
			plot.id = data.id;
			make('p', data.text, section);
			data.live = true;
			data.since = show.since;
			data.lines.forEach(l => { l.points = l.points || []; });
			return ds2.add(plot, data);
		});
		stretch();
		frame({}); // until it has its own figure
	};

	// All charts show the time from the first orders to the last.
	const stretch = () => charts.forEach(c => {
		const xs = c.data.lines.flatMap(l => l.points.length ? [l.points[0][0], l.points[l.points.length - 1][0]] : []);
		c.data.from = xs.length ? Math.min(...xs) : 0;
		c.data.to = Math.max(c.data.from + 10, ...xs);
		c.draw();
	});

	const frame = f => {
		text('headline', f.headline);
		text('state', [f.phase, f.left, f.doing].filter(Boolean).join(' · '));
		by('share').hidden = f.share == null;
		if (f.share != null) by('share').value = f.share;
		rows('facts', f.facts, (fact, row) => {
			make('th', fact.name, row).scope = 'row';
			make('td', fact.value, row).className = fact.state || '';
		});
		rows('limits', f.limits, (l, row) => {
			make('th', l.limit, row).scope = 'row';
			make('td', l.measured, row);
			make('td', l.ok ? 'holds' : 'FAILED', row).className = l.ok ? '' : 'bad';
		});
		if (!f.values) return;
		let at = 0;
		charts.forEach(c => c.data.lines.forEach(l => { l.points.push([f.at, f.values[at++]]); }));
		if (f.oldest != null) charts.forEach(c => c.data.lines.forEach(l => {
			while (l.points.length && l.points[0][0] < f.oldest) l.points.shift();
		}));
		waiting ||= setTimeout(() => { waiting = 0; stretch(); }); // where frames come faster than they are drawn, only the last is
	};

	const connect = () => {
		const stream = new EventSource('/live');
		stream.addEventListener('show', e => begin(JSON.parse(e.data)));
		stream.addEventListener('found', e => find(JSON.parse(e.data)));
		stream.addEventListener('runs', e => rows('runs', JSON.parse(e.data), (r, row) => {
			make('th', r.run, row).scope = 'row';
			make('td', r.result, row);
		}));
		stream.addEventListener('frame', e => frame(JSON.parse(e.data)));
		stream.addEventListener('end', e => {
			ended = true;
			stream.close();
			text('state', JSON.parse(e.data).text);
			by('share').hidden = true;
		});
		stream.onerror = () => {
			if (ended) return;
			text('state', 'no connection: ds2 has ended, or too many watch already');
			if (stream.readyState === EventSource.CLOSED) setTimeout(connect, 5000); // refused: the browser does not try again by itself
		};
	};
	connect();
})();
