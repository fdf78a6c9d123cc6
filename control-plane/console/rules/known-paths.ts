/** Paths of recent events, as the API returns them. */
export type EventPaths = {
  /** How many events were checked. */
  readonly events: number;
  readonly paths: readonly { readonly path: string; readonly events: number; readonly example: string }[];
};

/** Paths for templates and conditions, each with an example. */
export type KnownPaths = {
  readonly isKnown: boolean;
  readonly examples: ReadonlyMap<string, string>;
};

const ownPaths = ['event.event', 'event.id', 'event.time', 'event.source_id'] as const;
/** Well-known properties of visitors, accepted even if no recent event has them. */
const visitorNames = `id email external_id first_name last_name gender date_of_birth phone_number city state zip country
  company_name job_title ip`.split(/\s+/);

export function knownPaths(found: EventPaths | undefined): KnownPaths {
  const examples = new Map<string, string>(ownPaths.map((path) => [path, '']));
  for (const { path, example } of found?.paths ?? []) examples.set(path, example);
  return { isKnown: (found?.events ?? 0) > 0, examples };
}

/** Why a path looks wrong; undefined if a recent event has it or could have it. Pure. */
export function pathProblem(path: string, known: KnownPaths): string | undefined {
  const bare = path.trim().replace(/^\$/, '');
  if (bare === '') return 'The placeholder has no path.';
  const [root, second = ''] = bare.split('.');
  if (root !== 'event' && root !== 'visitor') {
    return `${bare} is not a path: paths begin with event or visitor.${suggestion(bare, known)}`;
  }
  const isOwn = (ownPaths as readonly string[]).includes(bare) || bare === 'event' || bare === 'visitor';
  if (isOwn || (root === 'event' && second === 'integrations')) return undefined;
  const parts = ['event_properties', 'context', 'default_properties', 'request_context'];
  if (root === 'event' && !parts.includes(second)) {
    return `${bare} does not exist: events have event_properties and context.${suggestion(bare, known)}`;
  }
  if (!known.isKnown || (root === 'visitor' && visitorNames.includes(bare.slice('visitor.'.length)))) return undefined;
  const plain = plainPath(bare);
  for (const one of known.examples.keys()) if (one === plain || one.startsWith(`${plain}.`)) return undefined;
  return `No recent event has ${bare}.${suggestion(bare, known)}`;
}

/** Problems of a template: unclosed placeholders and unknown paths. Pure. */
export function templateProblems(template: string, known: KnownPaths): readonly string[] {
  const problems: string[] = [];
  const rest = template.replaceAll(/\{\{([^{}]*)\}\}/g, (_, path: string) => {
    const problem = pathProblem(path, known);
    if (problem !== undefined) problems.push(problem);
    return '';
  });
  if (/\{\{|\}\}/.test(rest)) problems.push('A placeholder is not closed: it would be sent as text. Write {{path}}.');
  else if (/^(event|visitor)\.[\w.]+$/.test(rest.trim())) {
    problems.push(`This is sent as the text ${rest.trim()}. Write {{${rest.trim()}}} for its value.`);
  }
  return problems;
}

/**
 * A path in the form that `examples` uses: `event.context` instead of its other names, and 0 for any index of a list.
 */
function plainPath(path: string): string {
  return path
    .replace(/^event\.(default_properties|request_context)(?=\.|$)/, 'event.context')
    .replaceAll(/\.\d+(?=\.|$)/g, '.0');
}

function suggestion(path: string, known: KnownPaths): string {
  const wanted = plainPath(path);
  let best: { readonly path: string; readonly distance: number } | undefined;
  for (const one of known.examples.keys()) {
    const distance = editDistance(wanted, one);
    if (distance <= Math.max(2, Math.floor(one.length / 6)) && distance < (best?.distance ?? Infinity)) {
      best = { path: one, distance };
    }
  }
  return best === undefined ? '' : ` Did you mean ${best.path}?`;
}

/** Number of characters to add, remove or replace to turn one text into the other. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
