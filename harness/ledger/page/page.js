'use strict';
// The page: controls, overview, list, brackets.
let data = JSON.parse(document.getElementById('data').textContent);
const state = { text: '', profile: '', verdict: '', assessment: '', sort: 'date', down: true, open: new Set() };

const word_of = (b) => b.verdict ? b.verdict.word : 'unsigned';
const decided = (b) => b.assessment && (b.assessment.by_acceptance ? b.assessment.equal : b.assessment.raw);
/** What a bracket counts as: the effect that was judged; of an imported row what it recorded. */
const effect_of = (b) => { const e = decided(b); return e && finite(e[0]) ? e : finite(b.recorded) ? [b.recorded] : null; };
const effect_text = (b) => { const e = effect_of(b); return e ? interval(e) + (e.length === 1 ? ' recorded' : '') : '-'; };
const verdict_color = (b) => css({ adopted: 'good', rejected: 'bad', neutral: 'note' }[word_of(b)] || 'open');
const metric_of = (b) => [b.metric, b.cell].filter(Boolean).join(' ');
const headline = (b) => `${b.profile} · ${b.axis}`;

const SORTS = {
  date: (b) => b.date, effect: (b) => { const e = effect_of(b); return e ? e[0] : -Infinity; }, profile: (b) => b.profile.toLowerCase(),
  axis: (b) => b.axis.toLowerCase(), metric: (b) => b.metric, assessment: (b) => b.assessment ? b.assessment.state : '', verdict: word_of,
};

function chosen() {
  const words = state.text.toLowerCase().split(/\s+/).filter(Boolean);
  const kept = data.brackets.filter((b) => (!state.profile || b.profile === state.profile) && (!state.verdict || word_of(b) === state.verdict) &&
    (!state.assessment || (b.assessment ? b.assessment.state : 'none') === state.assessment) &&
    words.every((w) => `${b.uid} ${b.profile} ${b.axis} ${b.metric} ${b.cell} ${b.verdict ? b.verdict.reason : ''}`.toLowerCase().includes(w)));
  const key = SORTS[state.sort], sign = state.down ? -1 : 1;
  return kept.sort((x, y) => { const a = key(x), b = key(y); return a < b ? -sign : a > b ? sign : x.uid < y.uid ? -1 : 1; });
}

function controls() {
  const values = (f) => [...new Set(data.brackets.map(f))].sort();
  const select = (name, label, options) => el('label', {}, label, el('select', { 'aria-label': label, on: { change: (e) => { state[name] = e.target.value; draw(); } } },
    el('option', { value: '' }, 'all'), ...options.map((o) => el('option', { value: o, selected: state[name] === o ? '' : null }, o))));
  return el('div', { class: 'controls' },
    el('label', {}, 'search', el('input', { type: 'search', value: state.text, placeholder: 'knob, metric, reason …', on: { input: (e) => { state.text = e.target.value; draw(); } } })),
    select('profile', 'profile', values((b) => b.profile)), select('verdict', 'verdict', values(word_of)),
    select('assessment', 'assessment', values((b) => b.assessment ? b.assessment.state : 'none')));
}

function tiles(brackets) {
  const count = {};
  for (const b of brackets) count[word_of(b)] = (count[word_of(b)] || 0) + 1;
  const order = ['adopted', 'rejected', 'neutral', 'invalid', 'unavailable', 'deferred', 'unsigned'].filter((w) => count[w]);
  return el('div', { class: 'tiles' }, el('div', { class: 'tile' }, el('b', {}, brackets.length), el('span', {}, 'brackets')),
    ...order.map((w) => el('div', { class: 'tile' }, el('b', { class: w }, count[w]), el('span', {}, w))));
}

function open_bracket(uid) {
  state.open.add(uid);
  const node = document.getElementById('b-' + uid);
  if (node) { node.open = true; node.scrollIntoView({ behavior: 'smooth', block: 'start' }); }
}

/** Opens at a click or Enter; a first tap shows the figures as a pointer would, a second on the same mark opens. */
let tapped = null;
function opens(mark, uid) {
  mark.addEventListener('click', (event) => {
    const first_tap = event.pointerType === 'touch' && tapped !== mark;
    tapped = mark;
    if (!first_tap) open_bracket(uid);
  });
  mark.addEventListener('keydown', (event) => { if (event.key === 'Enter') open_bracket(uid); });
}

/** Effects over time, one frame a profile: dots with their intervals, each the way to its bracket. */
function over_time(brackets) {
  const out = [];
  for (const profile of [...new Set(brackets.map((b) => b.profile))].sort()) {
    const own = brackets.filter((b) => b.profile === profile && effect_of(b)).sort((x, y) => x.date - y.date);
    if (!own.length) continue;
    const dates = extent(own.map((b) => b.date));
    const days = dates[1] - dates[0] >= 2 * 864e5 || own.every((b) => b.date % 864e5 === 0);
    // Brackets of one moment stand beside one another: the place is the order, the ticks say the dates.
    const place = new Map(own.map((b, i) => [b.uid, i]));
    const y = extent(own.flatMap((b) => effect_of(b)).concat([0]));
    const plot = frame({ width: full_width(), height: 230, right: 36, x: [0, Math.max(1, own.length - 1)], y, label: `effects of ${profile} over time`, yText: (v) => short(v) + ' %',
      xTicks: ticks(0, Math.max(1, own.length - 1), Math.floor(full_width() / 120)).filter((t) => Number.isInteger(t) && t < own.length), xText: (i) => days ? day(own[i].date) : new Date(own[i].date).toISOString().slice(5, 16).replace('T', ' ') });
    plot.add('line', { class: 'zero', x1: plot.left, x2: plot.right, y1: plot.y(0), y2: plot.y(0) });
    for (const b of own) {
      const e = effect_of(b);
      const mark = dot(plot, plot.x(place.get(b.uid)), e[0], e[1], e[2], verdict_color(b), `${b.axis}\n${metric_of(b)}: ${effect_text(b)}\n${word_of(b)}, ${day(b.date)}`, b.assessment ? 'circle' : 'square');
      opens(mark, b.uid);
    }
    out.push(figure(`${profile}: judged effect of each bracket in the order of time`, plot.root,
      [[css('good'), 'adopted'], [css('bad'), 'rejected'], [css('note'), 'neutral'], [css('open'), 'open, invalid, unavailable']]));
  }
  return out.length ? out : [el('p', { class: 'caption' }, 'No bracket with an effect among those chosen.')];
}

/** One row a gate, one mark a boot, in the order of time. */
function gates_history(brackets) {
  const marks = brackets.slice().sort((x, y) => x.date - y.date).flatMap((b) => b.boots.flatMap((boot, i) => boot.gates.map((g) => ({ b, boot, i, g }))));
  if (!marks.length) return el('p', { class: 'caption' }, 'No gate has run in the brackets chosen.');
  const shown = marks.slice(-400), names = [...new Set(shown.map((m) => m.g[0]))].sort();
  const order = [...new Set(shown.map((m) => m.b.uid + m.i))];
  const plot = frame({ width: full_width(), height: 30 + 26 * names.length, left: 122, tight: true, x: [-1, order.length], xTicks: [], label: 'gates history' });
  names.forEach((name, row) => {
    const y = plot.top + 14 + row * 26;
    plot.add('text', { class: 'strong', x: plot.left - 8, y: y + 4, 'text-anchor': 'end' }, name);
    for (const m of shown.filter((s) => s.g[0] === name)) {
      const x = plot.x(order.indexOf(m.b.uid + m.i)), tip = `${name} ${m.g[1]}/${m.g[2]} ${m.g[3]}\n${headline(m.b)}\nboot ${m.i + 1} ${m.boot.arm}, ${day(m.b.date)}`;
      if (m.g[3] === 'pass') plot.add('circle', { cx: x, cy: y, r: 4.5, fill: css('good'), 'data-tip': tip });
      else plot.add('path', { d: `M${x - 5} ${y - 5}L${x + 5} ${y + 5}M${x + 5} ${y - 5}L${x - 5} ${y + 5}`, stroke: css('bad'), 'stroke-width': 3, 'data-tip': tip });
    }
  });
  return figure(`Gates of each boot, oldest first${marks.length > shown.length ? `; the last ${shown.length} of ${marks.length}` : ''}`, plot.root, [[css('good'), 'pass'], [css('bad'), 'fail or no answer']]);
}

function list_table(brackets) {
  const columns = [['date', 'measured'], ['profile', 'profile'], ['axis', 'axis'], ['metric', 'metric'], ['effect', '>effect'], ['assessment', 'assessment'], ['verdict', 'verdict']];
  const node = table(columns.map((c) => c[1]).concat(['>gates', 'reason']), brackets.map((b) => [day(b.date), b.profile,
    el('a', { href: '#b-' + b.uid, on: { click: () => open_bracket(b.uid) } }, b.axis), metric_of(b), effect_text(b),
    b.assessment ? el('span', { class: b.assessment.state }, b.assessment.state) : '-', el('span', { class: 'tag ' + word_of(b) }, word_of(b)),
    b.asked ? `${b.passed}/${b.asked}` : '-', b.verdict ? b.verdict.reason + (b.verdict.override ? ` OVERRIDE: ${b.verdict.override}` : '') : '']));
  node.querySelectorAll('th').forEach((th, i) => {
    if (!columns[i]) return;
    const key = columns[i][0], arrow = state.sort === key ? (state.down ? ' ▾' : ' ▴') : '';
    const sort = () => { state.down = state.sort === key ? !state.down : true; state.sort = key; draw(); };
    // No button element: browsers leave those out of a header that they repeat on every page of paper.
    th.replaceChildren(el('span', { role: 'button', tabindex: '0', on: { click: sort, keydown: (e) => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); sort(); } } } }, th.textContent + arrow));
  });
  return node;
}

function bracket_box(b) {
  const box = el('details', { class: 'bracket', id: 'b-' + b.uid }, el('summary', {}, el('b', {}, headline(b)), el('span', { class: 'tag ' + word_of(b) }, word_of(b)),
    b.assessment ? el('span', { class: b.assessment.state }, b.assessment.state) : null, el('span', { class: 'caption' }, day(b.date)), el('span', { class: 'effect' }, effect_text(b))));
  const fill = () => { if (box.open && box.childElementCount === 1) box.append(bracket_body(b)); box.open ? state.open.add(b.uid) : state.open.delete(b.uid); };
  box.fill = fill;
  box.addEventListener('toggle', fill);
  if (state.open.has(b.uid)) { box.open = true; fill(); }
  return box;
}

function calibration() {
  const c = data.calibration;
  if (!c) return el('p', { class: 'caption' }, 'Not in this database.');
  const rows = c.rows || [];
  const figures = Object.entries(c).filter(([k, v]) => finite(v) && !['schema_version', 'brackets_per_cell'].includes(k));
  const cells = rows.length ? table(Object.keys(rows[0]).map((k) => finite(rows[0][k]) ? '>' + k : k), rows.map((r) => Object.values(r).map((v) => finite(v) ? short(v) : v))) : null;
  return el('div', {}, table(['figure', '>percent'], figures.map(([k, v]) => [k, short(v)])), cells && el('h3', {}, 'Cells'), cells);
}

const LISTED = 300;
function draw() {
  const brackets = chosen();
  const shown = brackets.slice(0, LISTED);
  const rest = brackets.length > LISTED ? el('p', { class: 'caption' }, `The first ${LISTED} of ${brackets.length}; filter to see others.`) : null;
  document.getElementById('view').replaceChildren(tiles(brackets),
    el('h2', {}, 'Over time'), ...over_time(brackets), el('h2', {}, 'Gates'), gates_history(brackets),
    el('h2', {}, 'Brackets'), list_table(shown), rest ? rest.cloneNode(true) : '', el('h2', {}, 'Each bracket'), ...shown.map(bracket_box), rest || '',
    el('h2', {}, 'Calibration'), calibration(),
    el('h2', {}, 'Notes'), ...(data.notes.length ? data.notes.map((n) => el('blockquote', {}, `${n.about}${n.text}\n${n.author}, ${day(n.date)}`)) : [el('p', { class: 'caption' }, 'None.')]));
}

install_tips();
document.getElementById('controls').replaceChildren(controls());
if (data.brackets.length) state.open.add(chosen()[0].uid);
for (const id of location.hash.startsWith('#b-') ? [location.hash.slice(3)] : []) state.open.add(id);
draw();
let drawn_for = full_width();
addEventListener('resize', () => { if (Math.abs(full_width() - drawn_for) > 20) { drawn_for = full_width(); draw(); } });
// Paper opens nothing. Filled at once: the event of opening comes after the page was taken.
const PRINTED = 60;
let opened_for_paper = [];
addEventListener('beforeprint', () => {
  const printed = [...document.querySelectorAll('details.bracket')].slice(0, PRINTED);
  opened_for_paper = printed.filter((d) => !d.open);
  for (const d of printed) { d.open = true; d.fill(); }
});
addEventListener('afterprint', () => { for (const d of opened_for_paper) d.open = false; });
