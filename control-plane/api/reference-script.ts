/** What the reference page runs: it draws the OpenAPI document and sends the requests that are tried. */
export const referenceScript = `
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
