/** The parts of an OpenAPI document from which forms are made. */
type Schema = {
  readonly type?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly $ref?: string;
  readonly example?: unknown;
};
type Parameter = { readonly name: string; readonly in: string; readonly required?: boolean };
type Operation = {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
};
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
};
/** Information that the control plane returns about itself. */
type Instance = { readonly ingestUrl: string | null };

const nestedMax = 6;
/** The API key, entered once for all forms of the page and never stored. */
let key = '';

/**
 * Adds to each operation a form that sends a request to the instance that serves this page. Other servers are not
 * supported.
 */
export function addTryForms(siteRoot: URL): void {
  const operations = [...document.querySelectorAll<HTMLElement>('.operation')];
  if (operations.length === 0) return;
  const instance = readJson<Instance>(new URL('instance.json', siteRoot));
  const documents = new Map<string, Promise<Document>>();
  void instance.then(
    ({ ingestUrl }) => {
      for (const place of operations) {
        const { api = '' } = place.dataset;
        const base = api === 'ingest' ? ingestUrl : location.origin;
        if (base === null) continue;
        const button = make('button', 'Try it');
        button.addEventListener('click', () => {
          const loaded = documents.get(api) ?? readJson<Document>(new URL(`openapi/${api}.json`, siteRoot));
          documents.set(api, loaded);
          loaded.then(
            (described) => button.replaceWith(formOf(place, described, base)),
            (error: unknown) => button.replaceWith(make('p', String(error))),
          );
        });
        place.after(button);
      }
    },
    // Without an answer, another web server serves a copy of the page, which gets no forms.
    () => undefined,
  );
}

async function readJson<Value>(url: URL): Promise<Value> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url.pathname}: status ${answer.status}`);
  return (await answer.json()) as Value;
}

function formOf(place: HTMLElement, described: Document, base: string): HTMLFormElement {
  const { api, method = 'get', path = '' } = place.dataset;
  const operation = described.paths[path]?.[method] ?? {};
  const form = make('form');
  form.className = 'try';
  const keyInput = api === 'ingest' ? undefined : addInput(form, 'API key (slk_…)', 'password');
  if (keyInput !== undefined) keyInput.value = key;
  const inputs = (operation.parameters ?? [])
    .filter((parameter) => parameter.in === 'path' || parameter.in === 'query')
    .map((parameter) => ({
      parameter,
      input: addInput(form, `${parameter.name}${parameter.required === true ? ' *' : ''}`, 'text'),
    }));
  const schema = operation.requestBody?.content['application/json']?.schema;
  const body = schema === undefined ? undefined : make('textarea');
  if (body !== undefined && schema !== undefined) {
    body.value = JSON.stringify(exampleOf(schema, described, 0), undefined, 2);
    body.spellcheck = false;
    body.setAttribute('aria-label', 'Body');
    form.append(body);
  }
  const answer = make('pre');
  answer.hidden = true;
  answer.tabIndex = 0;
  const button = make('button', `Send ${method.toUpperCase()}`);
  form.append(button, answer);
  form.addEventListener('submit', (submitted) => {
    submitted.preventDefault();
    key = keyInput?.value ?? key;
    let target = path;
    const query = new URLSearchParams();
    for (const { parameter, input } of inputs) {
      if (parameter.in === 'path') target = target.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
      else if (input.value !== '') query.set(parameter.name, input.value);
    }
    const url = `${base}${target}${query.size > 0 ? `?${query}` : ''}`;
    answer.hidden = false;
    answer.textContent = '…';
    void send(url, method, keyInput?.value, body?.value).then((text) => (answer.textContent = text));
  });
  return form;
}

async function send(
  url: string,
  method: string,
  apiKey: string | undefined,
  body: string | undefined,
): Promise<string> {
  const headers: Record<string, string> = {};
  if (apiKey !== undefined && apiKey !== '') headers['authorization'] = `Bearer ${apiKey}`;
  if (body !== undefined) headers['content-type'] = 'application/json';
  try {
    const answer = await fetch(url, { method: method.toUpperCase(), headers, ...(body === undefined ? {} : { body }) });
    const text = await answer.text();
    return `${answer.status} ${answer.statusText}\n${readable(text)}`;
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}: is ${new URL(url).origin} reachable from this browser?`;
  }
}

function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

/** An example of a body with its required fields. */
function exampleOf(schema: Schema, described: Document, depth: number): unknown {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.replace('#/components/schemas/', '');
    return exampleOf(described.components?.schemas?.[name] ?? {}, described, depth);
  }
  if (depth > nestedMax) return null;
  if (schema.example !== undefined) return schema.example;
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.anyOf !== undefined) {
    const [first] = schema.anyOf;
    return first === undefined || schema.anyOf.some(({ type }) => type === 'null')
      ? null
      : exampleOf(first, described, depth + 1);
  }
  if (schema.type === 'object') {
    const required = new Set(schema.required ?? []);
    const shown = Object.entries(schema.properties ?? {}).filter(([name]) => required.has(name));
    return Object.fromEntries(shown.map(([name, one]) => [name, exampleOf(one, described, depth + 1)]));
  }
  const simple: Readonly<Record<string, unknown>> = { string: '', array: [], integer: 0, number: 0, boolean: true };
  return simple[schema.type ?? ''] ?? null;
}

function addInput(form: HTMLFormElement, label: string, type: string): HTMLInputElement {
  const line = make('label', label);
  const input = make('input');
  input.type = type;
  input.autocomplete = 'off';
  line.append(input);
  form.append(line);
  return input;
}

function make<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, text = ''): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  element.textContent = text;
  return element;
}
