'use strict';
// Drawing: SVG from numbers. Every mark carries its figures in data-tip.
const NS = 'http://www.w3.org/2000/svg';

function el(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === 'on') for (const [event, handler] of Object.entries(value)) node.addEventListener(event, handler);
    else if (value !== null && value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children.filter((c) => c !== null && c !== undefined));
  return node;
}

function svg(name, attributes, text) {
  const node = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes || {})) if (value !== undefined) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  if (node.hasAttribute('data-tip')) node.setAttribute('tabindex', '0');
  return node;
}

const finite = (x) => typeof x === 'number' && Number.isFinite(x);
const extent = (values) => {
  let lo = Infinity, hi = -Infinity;
  for (const v of values) if (finite(v)) { lo = Math.min(lo, v); hi = Math.max(hi, v); }
  return lo <= hi ? [lo, hi] : null;
};

/** Round tick positions inside [lo, hi], about `count` of them. */
function ticks(lo, hi, count) {
  const raw = (hi - lo) / Math.max(1, count);
  if (!(raw > 0)) return [lo];
  const power = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= raw);
  const out = [];
  for (let k = Math.ceil(lo / step - 1e-9); k * step <= hi + step * 1e-9; ++k) out.push(Number((k * step).toPrecision(12)));
  return out;
}

const short = (v) => finite(v) ? String(Number(v.toPrecision(4))) : '-';
const signed = (v, unit) => finite(v) ? (v > 0 ? '+' : '') + v.toFixed(2) + (unit ?? ' %') : '-';
const interval = (e, unit) => !e || !finite(e[0]) ? '-' : signed(e[0], unit) +
  (finite(e[1]) ? ` [${signed(e[1], '')}, ${signed(e[2], '')}]` : '');
const day = (ms) => new Date(ms).toISOString().slice(0, 10);

/** Pixels for a figure across the page, and for one of two beside each other: text keeps its size on a phone. */
const full_width = () => Math.max(280, Math.min(1140, document.documentElement.clientWidth - 40));
const half_width = () => full_width() < 900 ? full_width() - 22 : 530;

/** A frame with axes: plot.x and plot.y turn values into pixels. Domains are padded unless `tight`. */
function frame(options) {
  const width = options.width || half_width(), height = options.height || 220;
  const left = options.left ?? 56, right = width - (options.right ?? 12), top = options.top ?? 8, bottom = height - 34;
  const pad = (domain, share) => {
    const span = domain[1] - domain[0] || Math.abs(domain[0]) * 0.02 || 1;
    return [domain[0] - span * share, domain[1] + span * share];
  };
  const xd = options.tight ? options.x : pad(options.x, 0.04), yd = options.y ? pad(options.y, 0.08) : [0, 1];
  const root = svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': options.label || '' });
  const plot = {
    root, width, height, left, right, top, bottom,
    x: (v) => left + (v - xd[0]) / (xd[1] - xd[0] || 1) * (right - left),
    y: (v) => bottom - (v - yd[0]) / (yd[1] - yd[0] || 1) * (bottom - top),
    add: (name, attributes, text) => root.appendChild(svg(name, attributes, text)),
  };
  const xTicks = options.xTicks || ticks(xd[0], xd[1], options.xCount || Math.max(3, Math.floor((right - left) / 90)));
  for (const t of xTicks) {
    plot.add('line', { class: 'grid', x1: plot.x(t), x2: plot.x(t), y1: top, y2: bottom });
    plot.add('text', { x: plot.x(t), y: bottom + 15, 'text-anchor': 'middle' }, (options.xText || short)(t));
  }
  for (const t of options.y ? ticks(yd[0], yd[1], 4) : []) {
    plot.add('line', { class: 'grid', x1: left, x2: right, y1: plot.y(t), y2: plot.y(t) });
    plot.add('text', { x: left - 6, y: plot.y(t) + 4, 'text-anchor': 'end' }, (options.yText || short)(t));
  }
  plot.add('line', { class: 'axis', x1: left, x2: right, y1: bottom, y2: bottom });
  if (options.xLabel) plot.add('text', { x: (left + right) / 2, y: height - 3, 'text-anchor': 'middle' }, options.xLabel);
  return plot;
}

/** A dot with its interval, hovering as one thing. */
function dot(plot, x, y, lo, hi, color, tip, shape) {
  if (finite(lo) && finite(hi)) plot.add('line', { x1: x, x2: x, y1: plot.y(lo), y2: plot.y(hi), stroke: color, 'stroke-width': 1.6 });
  const at = plot.y(y);
  const mark = shape === 'square' ? ['rect', { x: x - 5, y: at - 5, width: 10, height: 10 }] : ['circle', { cx: x, cy: at, r: 5 }];
  return plot.add(mark[0], { ...mark[1], fill: color, 'data-tip': tip });
}

function figure(caption, node, legend) {
  const box = el('figure', {}, el('figcaption', {}, caption));
  if (legend) box.append(el('div', { class: 'legend' }, ...legend.map(([color, text]) => {
    const item = el('span', {}, el('i', { style: `background:${color}` }), text);
    return item;
  })));
  box.append(node);
  return box;
}

/** Names of metrics may break after each underscore, on paper the only place that a narrow column has. */
const breakable = (text) => text.split(/(?<=_)/).flatMap((part, i) => i ? [el('wbr', {}), part] : [part]);

/** rows of [text or {v, tip, class}] under headers "name" or ">name" (numbers, right). */
function table(headers, rows) {
  const number = headers.map((h) => h.startsWith('>'));
  const cell = (tag, value, i) => {
    const node = el(tag, number[i] ? { class: 'n' } : {});
    if (value instanceof Node) node.append(value);
    else node.append(...breakable(value === null || value === undefined ? '-' : String(value)));
    return node;
  };
  return el('div', { class: 'scroll' }, el('table', {},
    el('thead', {}, el('tr', {}, ...headers.map((h, i) => cell('th', h.replace(/^>/, ''), i)))),
    el('tbody', {}, ...rows.map((row) => el('tr', {}, ...row.map((value, i) => cell('td', value, i)))))));
}

/** Figures appear at the pointer, at a tap, and at the keyboard's focus; Escape takes them away. */
function install_tips() {
  const tip = document.getElementById('tip');
  const hide = () => { tip.style.display = 'none'; };
  const show = (event) => {
    const target = event.target.closest && event.target.closest('[data-tip]');
    if (!target) return hide();
    tip.textContent = target.getAttribute('data-tip');
    tip.style.display = 'block';
    const box = target.getBoundingClientRect(), own = tip.getBoundingClientRect();
    const x = Math.min(Math.max(6, box.left + box.width / 2 - own.width / 2), innerWidth - own.width - 6);
    const above = box.top - own.height - 8;
    tip.style.left = x + 'px';
    tip.style.top = (above > 4 ? above : box.bottom + 8) + 'px';
  };
  for (const event of ['pointerover', 'click', 'focusin']) document.addEventListener(event, show);
  document.addEventListener('scroll', hide, true);
  document.addEventListener('keydown', (event) => { if (event.key === 'Escape') hide(); });
}
