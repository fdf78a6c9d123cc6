import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Described } from './build-openapi.ts';
import { buildOpenApi } from './build-openapi.ts';

/** Adds what needs no key: the OpenAPI documents, and a page to read the first and try it in a browser. */
export function addDescriptionRoutes(app: FastifyInstance, documents: readonly Described[]): void {
  for (const described of documents) {
    const document = JSON.stringify(buildOpenApi(described));
    const path = described.name === undefined ? '/rest/v1/openapi' : `/rest/v1/openapi/${described.name}`;
    app.get(path, (_request, reply) => reply.type('application/json; charset=utf-8').send(document));
  }
  app.get('/rest/v1/reference', (_request, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', referencePage.contentSecurityPolicy)
      .header('referrer-policy', 'no-referrer')
      .send(referencePage.html),
  );
}

/** What the reference page runs: it draws the OpenAPI document and sends the requests that are tried. */
const referenceScript = `
'use strict';
const byId = (id) => document.getElementById(id);
const make = (tag, text, attributes) => {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
  return element;
};
const example = (schema, depth) => {
  if (!schema || depth > 6) return null;
  if ('default' in schema) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return schema.anyOf.some((one) => one.type === 'null') ? null : example(schema.anyOf[0], depth + 1);
  if (schema.type === 'object') {
    const required = new Set(schema.required || []);
    const shown = Object.entries(schema.properties || {}).filter(([name]) => required.has(name));
    return Object.fromEntries(shown.map(([name, one]) => [name, example(one, depth + 1)]));
  }
  return { string: '', array: [], integer: 0, number: 0, boolean: true }[schema.type] ?? null;
};
const tryForm = (path, method, operation) => {
  const form = make('form');
  const inputs = (operation.parameters || []).map((parameter) => {
    const label = make('label', parameter.name + (parameter.required ? ' * ' : ' '));
    const input = make('input', undefined, { size: 40 });
    label.append(input, make('span', ' ' + parameter.in, { class: 'muted' }));
    form.append(label);
    return { parameter, input };
  });
  const schema = operation.requestBody && operation.requestBody.content['application/json'].schema;
  const body = schema && make('textarea', JSON.stringify(example(schema, 0), null, 2), { spellcheck: 'false' });
  if (body) form.append(body);
  const answer = make('pre');
  answer.hidden = true;
  form.append(make('button', 'Send'), answer);
  form.addEventListener('submit', async (submitted) => {
    submitted.preventDefault();
    let url = path;
    const query = new URLSearchParams();
    for (const { parameter, input } of inputs) {
      if (parameter.in === 'path') url = url.replace('{' + parameter.name + '}', encodeURIComponent(input.value));
      else if (input.value !== '') query.set(parameter.name, input.value);
    }
    const headers = { authorization: 'Bearer ' + byId('key').value };
    if (body) headers['content-type'] = 'application/json';
    answer.hidden = false;
    answer.textContent = '…';
    try {
      const reply = await fetch(url + (query.size > 0 ? '?' + query : ''), { method, headers, body: body && body.value });
      const text = await reply.text();
      let shown = text;
      try { shown = JSON.stringify(JSON.parse(text), null, 2); } catch { /* not JSON: shown as it is */ }
      answer.textContent = reply.status + ' ' + reply.statusText + '\\n' + shown;
    } catch (error) {
      answer.textContent = String(error);
    }
  });
  return form;
};
const draw = (api) => {
  byId('title').textContent = api.info.title + ' ' + api.info.version;
  byId('about').textContent = api.info.description;
  for (const { name } of api.tags) {
    byId('sections').append(make('a', name, { href: '#' + encodeURIComponent(name) }));
    byId('operations').append(make('h2', name, { id: encodeURIComponent(name) }));
    for (const [path, operations] of Object.entries(api.paths)) {
      for (const [method, operation] of Object.entries(operations)) {
        if (operation.tags[0] !== name) continue;
        const box = make('details');
        const line = make('summary');
        line.append(make('span', method.toUpperCase(), { class: 'method' }), make('code', path), ' ', make('span', operation.summary, { class: 'muted' }));
        box.append(line);
        // Drawn when it is opened: the page stays quick with a hundred operations.
        box.addEventListener('toggle', () => {
          box.append(make('p', operation.description), tryForm(path, method.toUpperCase(), operation));
          const schema = operation.responses['200'].content['application/json'].schema;
          box.append(make('h4', 'Answer'), make('pre', JSON.stringify(schema, null, 2)));
        }, { once: true });
        byId('operations').append(box);
      }
    }
  }
};
fetch('openapi').then((reply) => reply.json()).then(draw, (error) => { byId('title').textContent = String(error); });
`;

const style = `
  :root { color-scheme: light dark; --line: #8884; --soft: #8882; font: 15px/1.5 system-ui, sans-serif; }
  body { margin: 0; display: grid; grid-template-columns: 17rem 1fr; min-height: 100vh; }
  nav { border-right: 1px solid var(--line); padding: 1rem; position: sticky; top: 0; height: 100vh; overflow: auto; box-sizing: border-box; }
  nav a { display: block; padding: .1rem 0; color: inherit; text-decoration: none; }
  nav input { width: 100%; box-sizing: border-box; margin: .3rem 0 1rem; }
  main { padding: 1rem 2rem; max-width: 60rem; }
  details { border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0; padding: .5rem .8rem; }
  summary { cursor: pointer; }
  code, pre, textarea, input { font: 13px/1.45 ui-monospace, monospace; }
  pre { background: var(--soft); padding: .6rem; overflow: auto; max-height: 26rem; border-radius: 4px; }
  textarea { width: 100%; min-height: 9rem; box-sizing: border-box; }
  label { display: block; margin: .3rem 0; }
  .method { display: inline-block; min-width: 5rem; font-weight: 600; }
  .muted { opacity: .7; }
  @media (max-width: 50rem) { body { grid-template-columns: 1fr; } nav { position: static; height: auto; } }
`;

const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sluice configuration interface</title>
<style>${style}</style>
</head>
<body>
<nav aria-label="Sections">
  <label>API key <input id="key" type="password" autocomplete="off" placeholder="slk_…"></label>
  <div id="sections"></div>
</nav>
<main><h1 id="title">Loading…</h1><p id="about" class="muted"></p><div id="operations"></div></main>
<script>${referenceScript}</script>
</body>
</html>
`;

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** The reference as one page that loads nothing from elsewhere; the key typed into it stays in the page. */
const referencePage = {
  html,
  contentSecurityPolicy: [
    "default-src 'none'",
    `script-src ${hashOf(referenceScript)}`,
    `style-src ${hashOf(style)}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
};
