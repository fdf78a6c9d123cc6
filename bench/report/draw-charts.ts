/** Runs in the page: draws the charts it finds as JSON. Names reach the page as text only. */
export const drawChartsScript = `
(() => {
  const colours = ['#1f6feb', '#d1242f', '#1a7f37', '#9a6700', '#8250df', '#bf3989', '#0a7ea4', '#57606a'];
  const units = {
    per_s: (v) => v.toLocaleString('en-US', { maximumFractionDigits: 0 }) + '/s',
    ns: (v) => v + ' ns', ms: (v) => v + ' ms', s: (v) => v + ' s', count: (v) => v.toLocaleString('en-US'),
    ratio: (v) => String(v), bytes: (v) => (v / 1048576).toFixed(0) + ' MiB',
  };
  const places = [...document.querySelectorAll('.charts')];
  for (const chart of JSON.parse(document.getElementById('charts').textContent)) {
    const place = places.find((each) => each.dataset.result === String(chart.result));
    const format = units[chart.unit];
    const tables = chart.lines.map(({ points }) => [points.map((p) => p[0]), points.map((p) => p[1])]);
    const data = tables.length === 1 ? tables[0] : uPlot.join(tables);
    const host = document.createElement('div');
    place.append(host);
    new uPlot({
      title: chart.title, width: Math.min(720, document.body.clientWidth - 40), height: 260,
      scales: { x: { time: false }, y: { range: (_u, _min, max) => [0, max > 0 ? max * 1.1 : 1] } },
      axes: [{ label: 'seconds' }, { size: 80, values: (_u, ticks) => ticks.map(format) }],
      series: [{ label: 's', value: (_u, v) => v === null ? '' : v.toFixed(1) },
        ...chart.lines.map(({ label }, i) => ({
          label, stroke: colours[i % colours.length], width: 1.5, spanGaps: true,
          value: (_u, v) => v === null || v === undefined ? '' : format(Math.round(v * 100) / 100),
        }))],
    }, data, host);
  }
})();
`;
