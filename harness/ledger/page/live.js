'use strict';
// A served page asks for the data again, and draws it when it changed. What the reader chose and opened stays.
const look_again_ms = 1500;
let mark = '';

function running_text() {
  const running = data.brackets.filter((b) => b.state === 'running');
  const now = new Date().toLocaleTimeString();
  if (!running.length) return `live, ${now}: no bracket runs`;
  return running.map((b) => {
    const boots = b.boots.length, samples = b.boots.reduce((s, boot) => s + ((figure_of(boot, b.cell, b.metric) || [])[3] || 0), 0);
    return `live, ${now}: ${headline(b)}, ${boots} boots begun, ${samples} samples of ${b.cell}`;
  }).join(' · ');
}

async function look_again() {
  const live = document.getElementById('live');
  try {
    const answer = await fetch('data', { headers: mark ? { 'If-None-Match': mark } : {}, cache: 'no-store' });
    if (answer.status === 200) {
      const known = data.brackets.length, at = scrollY;
      mark = answer.headers.get('ETag') || '';
      data = await answer.json();
      for (const b of data.brackets) if (b.state === 'running') state.open.add(b.uid);
      if (data.brackets.length !== known) document.getElementById('controls').replaceChildren(controls());
      draw();
      scrollTo(0, at);
    }
    live.textContent = answer.ok || answer.status === 304 ? running_text() : `the server answers ${answer.status}: ${(await answer.text()).slice(0, 200)}`;
  } catch {
    live.textContent = 'the server is gone; the page shows what it knew';
  }
  setTimeout(look_again, look_again_ms);
}
look_again();
