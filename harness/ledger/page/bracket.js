'use strict';
// One bracket: its figures, and the full tables under them.
const css = (name) => `var(--${name})`;
const arm_color = (arm) => css(arm === 'cand' ? 'cand' : 'base');
const ARMS = [[css('base'), 'base'], [css('cand'), 'candidate']];

const figure_of = (boot, cell, name) => (boot.cells[cell] || {})[name];

function effects_figure(b) {
  const a = b.assessment;
  const rows = [['raw', a.raw, ' %'], ['at equal acceptance', a.equal, ' %'], ['on acceptance', a.acceptance, ' pt']]
    .filter((row) => row[1] && finite(row[1][0]));
  if (!rows.length) return null;
  const domain = extent(rows.flatMap((row) => row[1]).concat([0, a.band_pct, -a.band_pct]));
  const plot = frame({ height: 44 + 34 * rows.length, left: 136, x: domain, xLabel: 'percent (points for acceptance)', label: 'effects with their intervals' });
  plot.add('line', { class: 'zero', x1: plot.x(0), x2: plot.x(0), y1: plot.top, y2: plot.bottom });
  rows.forEach(([name, e, unit], i) => {
    const y = plot.top + 18 + i * 34;
    const color = e[1] > 0 ? css('good') : e[2] < 0 ? css('bad') : css('open');
    plot.add('text', { class: 'strong', x: plot.left - 8, y: y + 4, 'text-anchor': 'end' }, name);
    plot.add('line', { x1: plot.x(e[1]), x2: plot.x(e[2]), y1: y, y2: y, stroke: color, 'stroke-width': 4, 'stroke-linecap': 'round', 'data-tip': `${name}: ${interval(e, unit)}` });
    plot.add('circle', { cx: plot.x(e[0]), cy: y, r: 6, fill: color, 'data-tip': `${name}: ${interval(e, unit)}` });
  });
  return figure('Effects of the candidate, with their intervals', plot.root);
}

function boots_figure(b) {
  const rows = b.boots.map((boot, i) => ({ boot, i, f: figure_of(boot, b.cell, b.metric) })).filter((r) => r.f && finite(r.f[0]));
  if (!rows.length) return null;
  const plot = frame({ x: [1, Math.max(2, b.boots.length)], y: extent(rows.flatMap((r) => r.f.slice(0, 3))), xTicks: b.boots.map((_, i) => i + 1), xText: String, xLabel: 'boot, in order', label: 'boots' });
  for (const { boot, i, f } of rows) {
    const tip = `boot ${i + 1} ${boot.arm} (${boot.state})\nmedian ${short(f[0])}, ${short(f[1])} to ${short(f[2])}\n${f[3]} samples`;
    dot(plot, plot.x(i + 1), f[0], f[1], f[2], arm_color(boot.arm), tip, boot.arm === 'cand' ? 'square' : 'circle');
  }
  return figure(`${b.metric} ${b.cell} per boot: median, smallest and largest sample`, plot.root, ARMS);
}

/** The two arms' lines through the samples: one slope for both, as the rule adjusts. */
function fit(points) {
  let sxy = 0, sxx = 0;
  const means = {};
  for (const arm of ['base', 'cand']) {
    const own = points.filter((p) => p.arm === arm);
    if (!own.length) continue;
    const mx = own.reduce((s, p) => s + p.x, 0) / own.length, my = own.reduce((s, p) => s + p.y, 0) / own.length;
    means[arm] = { mx, my, range: extent(own.map((p) => p.x)) };
    for (const p of own) { sxy += (p.x - mx) * (p.y - my); sxx += (p.x - mx) ** 2; }
  }
  return sxx > 0 ? { slope: sxy / sxx, means } : null;
}

function acceptance_figure(b) {
  const points = b.points.map(([boot, x, y]) => ({ boot, x, y, arm: b.boots[boot].arm }));
  if (points.length < 3) return null;
  const plot = frame({ x: extent(points.map((p) => p.x)), y: extent(points.map((p) => p.y)), xLabel: 'raw acceptance of the sample, %', label: 'acceptance against rate' });
  for (const p of points) {
    plot.add('circle', { cx: plot.x(p.x), cy: plot.y(p.y), r: 4, fill: arm_color(p.arm), 'fill-opacity': 0.65, 'data-tip': `boot ${p.boot + 1} ${p.arm}\nacceptance ${p.x.toFixed(1)} %\n${b.metric} ${short(p.y)}` });
  }
  const line = fit(points);
  for (const [arm, m] of line ? Object.entries(line.means) : []) {
    const at = (x) => m.my + line.slope * (x - m.mx);
    plot.add('line', { x1: plot.x(m.range[0]), x2: plot.x(m.range[1]), y1: plot.y(at(m.range[0])), y2: plot.y(at(m.range[1])), stroke: arm_color(arm), 'stroke-width': 2, 'data-tip': `${arm}: ${short(line.slope)} per point of acceptance (one slope for both arms)` });
  }
  return figure(`Acceptance against ${b.metric}, a sample each; the arms' lines share a slope`, plot.root, ARMS);
}

function timelines_figure(b) {
  if (!b.timelines.length) return null;
  const plot = frame({ x: [0, Math.max(...b.timelines.map((t) => t.ms[t.ms.length - 1]))], y: [0, Math.max(...b.timelines.map((t) => t.tokens[t.tokens.length - 1]))], xLabel: 'ms since the request was sent', label: 'decode timelines' });
  for (const t of b.timelines) {
    const path = t.ms.map((ms, i) => `${plot.x(ms).toFixed(1)},${plot.y(t.tokens[i]).toFixed(1)}`).join(' ');
    const end = t.ms.length - 1;
    plot.add('polyline', { points: path, fill: 'none', stroke: arm_color(t.arm), 'stroke-width': 1.8, 'stroke-opacity': 0.85, 'data-tip': `boot ${t.boot + 1} ${t.arm}\n${t.tokens[end]} tokens in ${short(t.ms[end])} ms\nfirst after ${short(t.ms[0])} ms` });
  }
  return figure('Tokens over time of the first measured request of each boot', plot.root, ARMS);
}

function boot_tables(b) {
  const out = [];
  const cells = [...new Set(b.boots.flatMap((boot) => Object.keys(boot.cells)))].sort((x, y) => (y === b.cell) - (x === b.cell) || (x < y ? -1 : 1));
  for (const cell of cells) {
    const names = [...new Set(b.boots.flatMap((boot) => Object.keys(boot.cells[cell] || {})))];
    out.push(el('h3', {}, `Medians of ${cell} per boot`), table(['>boot', 'arm', 'state', ...names.map((n) => '>' + n), '>samples'],
      b.boots.map((boot, i) => {
        const values = names.map((n) => figure_of(boot, cell, n));
        const any = values.find((v) => v);
        return [i + 1, boot.arm, boot.state + (boot.reason ? ': ' + boot.reason : ''), ...values.map((v) => v ? short(v[0]) : '-'), any ? any[4] + (any[5] ? ` (${any[5]} failed)` : '') : '-'];
      })));
  }
  const gates = b.boots.flatMap((boot, i) => boot.gates.map((g) => [i + 1, boot.arm, g[0], `${g[1]}/${g[2]}`, el('span', { class: g[3] }, g[3])]));
  if (gates.length) out.push(el('h3', {}, 'Gates'), table(['>boot', 'arm', 'gate', '>passed', 'verdict'], gates));
  if (b.points.length) {
    out.push(el('details', {}, el('summary', {}, `All ${b.points.length} samples`), table(['>boot', 'arm', '>acceptance %', '>' + b.metric],
      b.points.map(([boot, x, y]) => [boot + 1, b.boots[boot].arm, x.toFixed(2), short(y)]))));
  }
  return out;
}

function facts(b) {
  const a = b.assessment, v = b.verdict, list = [];
  const put = (name, text) => { if (text !== null && text !== undefined && text !== '') list.push(el('dt', {}, name), el('dd', {}, text)); };
  put('id', b.uid);
  put('measured', `${day(b.date)}, ${b.state}${b.reason ? ': ' + b.reason : ''}`);
  put('metric', `${metric_of(b)}${b.better ? ', ' + b.better + ' is better' : ''}`);
  put('verdict', v ? `${v.word} by ${v.by} on ${day(v.date)}${v.original ? ` (original word: ${v.original})` : ''}: ${v.reason}` : 'unsigned');
  put('override', v && v.override);
  put('to be signed again', b.outdated);
  put('reopened', b.reopened);
  put('imported from', b.source);
  for (const [name, value] of Object.entries(b.imported || {})) if (['base1', 'cand', 'base2', 'unit', 'delta_pct', 'acceptance'].includes(name)) put(name, value);
  if (a) {
    put('assessment', `${a.state} (${a.code})${a.reason ? ': ' + a.reason : ''}`);
    const or_why = (name, e, unit) => e ? interval(e, unit) : '-' + (a.why && a.why[name] ? ` (${a.why[name]})` : '');
    put('raw effect', or_why('raw', a.raw));
    put('at equal acceptance', or_why('equal', a.equal));
    put('on acceptance', or_why('acceptance', a.acceptance, ' pt'));
    put('p', finite(a.p) ? a.p.toPrecision(2) : null);
    put('drift, last base against first', finite(a.drift) ? signed(a.drift) : null);
    put('boots to decide', a.needed);
    put('older rule', a.old);
  }
  for (const r of b.replaced) put('assessed before', `${r.state} (${r.code}) on ${day(r.date)}${r.version ? ' by version ' + r.version : ''}${r.reason ? ': ' + r.reason : ''}`);
  put('proofs', b.proofs);
  return el('dl', {}, ...list);
}

function bracket_body(b) {
  const figures = [b.assessment && effects_figure(b), boots_figure(b), acceptance_figure(b), timelines_figure(b)].filter(Boolean);
  return el('div', {}, facts(b), ...b.notes.map((n) => el('blockquote', {}, `${n.text}\n${n.author}, ${day(n.date)}`)),
    el('div', { class: 'figures' }, ...figures), ...boot_tables(b), el('p', { class: 'caption' }, b.detail ? '' : 'Samples and timelines of the newest brackets only are in this page; the database has all.'));
}
