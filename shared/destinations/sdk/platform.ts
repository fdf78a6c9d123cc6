import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { isJsonObject } from '../../runtime/json.ts';
import type { OutboundAnswer, OutboundRequest } from '../../egress/outbound.ts';

/** What a scripted platform does: judge a request by its rules, or answer as it documents for when it cannot. */
export const platformScenarios = {
  success: 'takes what is right, and refuses what is not',
  refusal: 'refuses the whole request',
  'refused-row': 'refuses one event of the request',
  throttled: 'is asked too often',
  'ended-token': 'does not take the credentials, or no longer',
  malformed: 'cannot read the body, of which half is missing',
  'too-large': 'is sent more than it takes',
  unavailable: 'has trouble of its own',
} as const;

export type PlatformScenario = keyof typeof platformScenarios;

/** What is wrong with a request, in the platform's eyes. */
export type PlatformProblem = {
  /** The field, as a path with dots; empty for the request as a whole. */
  readonly field: string;
  readonly message: string;
  /** The place of the event it is about, from 0, where it is about one. */
  readonly row?: number;
};

/** What became of one row of a request. */
export type RowVerdict = { readonly row: unknown; readonly problem: PlatformProblem | undefined };

/** An answer as a platform writes it: what is not text is sent as JSON. */
export type ScriptedAnswer = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
};

/** How a platform answers: each in the form it documents. */
export type PlatformAnswers = {
  /** It took every row. */
  success(rows: readonly unknown[]): ScriptedAnswer;
  /** It took some rows. Only of a platform that tells which; any other refuses a request for one row. */
  partial?(rows: readonly RowVerdict[]): ScriptedAnswer;
  /** It took nothing. */
  refusal(problem: PlatformProblem): ScriptedAnswer;
  /** With the platform's own header or member that says when to come again, where it has one. */
  readonly throttled: ScriptedAnswer;
  readonly endedToken: ScriptedAnswer;
  /** 413 where it is not documented. */
  readonly tooLarge?: ScriptedAnswer;
  /** 503 where it is not documented. */
  readonly unavailable?: ScriptedAnswer;
};

/** Where a platform looks for who asks. */
export type PlatformCredentials =
  | { readonly in: 'header' | 'query' | 'body'; readonly name: string; readonly pattern: RegExp }
  | { readonly in: 'nowhere' };

/** Rows of a request: where they stand, and what each must be. */
export type PlatformRows = {
  /** Path with dots to the list; empty where the body itself is the list. */
  readonly at: string;
  readonly schema: TSchema;
  /** What a schema cannot say. Returns the field and what is wrong with it. */
  check?(row: unknown, nowMs: number): PlatformProblem | undefined;
};

/** One address of a platform, and what it takes there. */
export type PlatformEndpoint = {
  readonly method: OutboundRequest['method'];
  /** The end of the path: `{id}` stands for one part, `**` for any path. */
  readonly path: string;
  readonly credentials: PlatformCredentials;
  /** Other headers that must be there. Names in lower case. */
  readonly headers?: Readonly<Record<string, RegExp>>;
  /** Of the query, whose values are texts. */
  readonly query?: TSchema;
  /** How the body is written; `text` is not looked into but by `parse`. A form's values are texts. */
  readonly content: 'json' | 'form' | 'text' | 'none';
  /** What a form says whose names are paths, or a text that is neither JSON nor a form; undefined where it cannot be read. */
  parse?(body: string): unknown;
  /** Of the body. Rows in lists are checked one by one, by `rows`. */
  readonly body?: TSchema;
  /** Without any, the request as a whole is its one row: its body, or its query. */
  readonly rows?: readonly PlatformRows[];
  /** Rows of all lists together, at most. */
  readonly rowsMax?: number;
  /** Bytes of the body, at most. */
  readonly bytesMax?: number;
  /** Where they are others than those of the platform's other addresses. */
  readonly answers?: Partial<PlatformAnswers>;
};

export type PlatformDefinition = {
  readonly endpoints: readonly PlatformEndpoint[];
  readonly answers: PlatformAnswers;
};

export type JudgeOptions = {
  readonly scenario?: PlatformScenario;
  /** Which row a `refused-row` is; the first one where this is not given. */
  readonly refuses?: (row: unknown) => boolean;
  /** Instead of the platform's own limit of a body. */
  readonly bytesMax?: number;
  /** In ms since the epoch: when the request arrives. */
  readonly nowMs?: number;
};

/** What a platform made of a request. */
export type Judgement = {
  readonly answer: OutboundAnswer;
  /** Those it took, as they stood in the request. */
  readonly taken: readonly unknown[];
  readonly problems: readonly PlatformProblem[];
};

/** A platform that answers as documented, without an account and without a network. Pure. */
export type Platform = {
  /** The address a request is for; undefined where the platform has none like it. */
  endpointOf(request: OutboundRequest): PlatformEndpoint | undefined;
  judge(request: OutboundRequest, options?: JudgeOptions): Judgement;
};

/** Credentials in a header: `Bearer …` in Authorization where nothing else is said. */
export function inHeader(name = 'authorization', pattern = /^Bearer \S+$/): PlatformCredentials {
  return { in: 'header', name, pattern };
}

export function inQuery(name: string, pattern = /^\S+$/): PlatformCredentials {
  return { in: 'query', name, pattern };
}

/** Credentials in a member of the body, a path with dots. */
export function inBody(name: string, pattern = /^\S+$/): PlatformCredentials {
  return { in: 'body', name, pattern };
}

export const noCredentials: PlatformCredentials = { in: 'nowhere' };

/** Makes a platform of what it documents. */
export function definePlatform({ endpoints, answers }: PlatformDefinition): Platform {
  const compiled = endpoints.map((endpoint) => ({
    endpoint,
    path: pathPattern(endpoint.path),
    judge: compileJudge(endpoint, { ...answers, ...endpoint.answers }),
  }));
  const atPath = ({ url }: OutboundRequest) => compiled.filter(({ path }) => path.test(new URL(url).pathname));
  const find = (request: OutboundRequest) => atPath(request).find(({ endpoint }) => endpoint.method === request.method);
  return {
    endpointOf: (request) => find(request)?.endpoint,
    judge(request, options = {}) {
      const found = find(request);
      if (found !== undefined) return found.judge(request, options);
      const status = atPath(request).length === 0 ? 404 : 405;
      return refused({ status }, { field: '', message: `${request.method} is not taken at this address` });
    },
  };
}

type Judge = (request: OutboundRequest, options: JudgeOptions) => Judgement;

function compileJudge(endpoint: PlatformEndpoint, answers: PlatformAnswers): Judge {
  const query = checkOf(endpoint.query);
  const body = checkOf(endpoint.body);
  const lists = (endpoint.rows ?? []).map((list) => ({ ...list, problemIn: checkOf(list.schema) }));
  const { rowsMax = Infinity, content } = endpoint;

  /** What is wrong with a row; undefined where nothing is. */
  const judgeRows = (said: unknown, nowMs: number): RowVerdict[] => {
    const rows = lists.flatMap(({ at, problemIn, check }) => {
      const list = memberAt(said, at);
      if (!Array.isArray(list)) return [];
      return list.map((row: unknown, index) => ({
        row,
        problem: within(at, index, problemIn(row) ?? check?.(row, nowMs)),
      }));
    });
    return rows.map(({ row, problem }, place) => ({ row, problem: problem && { ...problem, row: place } }));
  };

  return (request, options) => {
    const { scenario = 'success', nowMs = Date.now() } = options;
    const refuse = (problem: PlatformProblem): Judgement => refused(answers.refusal(problem), problem);
    if (scenario === 'unavailable') return refused(answers.unavailable ?? { status: 503 }, trouble(scenario));
    if (scenario === 'throttled') return refused(answers.throttled, trouble(scenario));
    const parameters = Object.fromEntries(new URL(request.url).searchParams);
    const sent = scenario === 'malformed' ? half(request.body) : request.body;
    const said = read(endpoint, sent);
    const stranger = strangerIn(endpoint.credentials, request, parameters, said);
    if (scenario === 'ended-token' || stranger !== undefined) {
      return refused(answers.endedToken, stranger ?? trouble(scenario));
    }
    const bytes = Buffer.byteLength(request.body ?? '', 'utf8');
    if (scenario === 'too-large' || bytes > (options.bytesMax ?? endpoint.bytesMax ?? Infinity)) {
      return refused(answers.tooLarge ?? { status: 413 }, { field: '', message: 'the request is too large' });
    }
    const header = Object.entries(endpoint.headers ?? {}).find(
      ([name, pattern]) => !pattern.test(request.headers[name] ?? ''),
    );
    if (header !== undefined) return refuse({ field: header[0], message: 'the header is missing or wrong' });
    if (scenario === 'malformed' || said === unreadable) {
      return refuse({ field: '', message: 'the body cannot be read' });
    }
    const problem = query(parameters) ?? body(said);
    if (problem !== undefined) return refuse(problem);
    if (scenario === 'refusal') return refuse(trouble(scenario));
    const whole = content === 'none' ? parameters : said;
    const verdicts = lists.length === 0 ? [{ row: whole, problem: undefined }] : judgeRows(said, nowMs);
    if (lists.length > 0 && verdicts.length === 0) return refuse({ field: lists[0]?.at ?? '', message: 'is empty' });
    if (verdicts.length > rowsMax) {
      return refuse({ field: lists[0]?.at ?? '', message: `has more than ${rowsMax} rows` });
    }
    return answerRows(answers, scenario === 'refused-row' ? withRefused(verdicts, options) : verdicts);
  };
}

function answerRows(answers: PlatformAnswers, verdicts: readonly RowVerdict[]): Judgement {
  const problems = verdicts.flatMap(({ problem }) => problem ?? []);
  const [first] = problems;
  if (first === undefined) {
    const rows = verdicts.map(({ row }) => row);
    return { answer: written(answers.success(rows)), taken: rows, problems };
  }
  if (answers.partial === undefined) return { ...refused(answers.refusal(first), first), problems };
  const taken = verdicts.flatMap(({ row, problem }) => (problem === undefined ? [row] : []));
  return { answer: written(answers.partial(verdicts)), taken, problems };
}

/** As if the platform had refused a row for what only it can know. */
function withRefused(verdicts: readonly RowVerdict[], { refuses }: JudgeOptions): readonly RowVerdict[] {
  return verdicts.map(({ row, problem }, index) => {
    const isRefused = refuses === undefined ? index === 0 : refuses(row);
    return { row, problem: problem ?? (isRefused ? { ...trouble('refused-row'), row: index } : undefined) };
  });
}

function refused(answer: ScriptedAnswer, problem: PlatformProblem): Judgement {
  return { answer: written(answer), taken: [], problems: [problem] };
}

/** The problem that a scenario is about. */
function trouble(scenario: PlatformScenario): PlatformProblem {
  return { field: '', message: `the platform ${platformScenarios[scenario]}` };
}

function written({ status, headers = {}, body }: ScriptedAnswer): OutboundAnswer {
  if (body === undefined || typeof body === 'string') return { status, headers, body: body ?? '' };
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}

const unreadable = Symbol('unreadable');

/** What a body says; `unreadable` where it is not what it should be. */
function read({ content, parse }: PlatformEndpoint, body: string | undefined): unknown {
  if (content === 'none') return {};
  if (body === undefined || (content === 'text' && body === '')) return unreadable;
  if (parse !== undefined) return parse(body) ?? unreadable;
  if (content === 'text') return body;
  if (content === 'form') return Object.fromEntries(new URLSearchParams(body));
  try {
    return JSON.parse(body);
  } catch {
    return unreadable;
  }
}

function half(body: string | undefined): string | undefined {
  return body?.slice(0, Math.floor(body.length / 2));
}

/** What is wrong with who asks. */
function strangerIn(
  credentials: PlatformCredentials,
  { headers }: OutboundRequest,
  parameters: Readonly<Record<string, string>>,
  said: unknown,
): PlatformProblem | undefined {
  if (credentials.in === 'nowhere') return undefined;
  const { name, pattern } = credentials;
  const given = { header: headers[name], query: parameters[name], body: memberAt(said, name) }[credentials.in];
  // A body that cannot be read is answered as one.
  if (credentials.in === 'body' && said === unreadable) return undefined;
  if (typeof given === 'string' && pattern.test(given)) return undefined;
  return { field: name, message: 'the credentials are missing or wrong' };
}

type Check = (value: unknown) => PlatformProblem | undefined;

/** Compiled when it is first asked: most platforms of a process are never. */
function checkOf(schema: TSchema | undefined): Check {
  if (schema === undefined) return () => undefined;
  let compiled: ReturnType<typeof Compile> | undefined;
  return (value) => {
    compiled ??= Compile(schema);
    if (compiled.Check(value)) return undefined;
    const [error] = compiled.Errors(value);
    if (error === undefined) return { field: '', message: 'is not as documented' };
    const field = error.instancePath.split('/').slice(1).join('.');
    if (error.keyword !== 'required') return { field, message: error.message };
    const missing = error.params.requiredProperties[0] ?? '';
    return { field: join(field, missing), message: 'is required' };
  };
}

function within(at: string, index: number, problem: PlatformProblem | undefined): PlatformProblem | undefined {
  return problem && { ...problem, field: join(at, String(index), problem.field) };
}

function join(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('.');
}

/** The member at a path with dots; the value itself at none. */
function memberAt(value: unknown, path: string): unknown {
  if (path === '') return value;
  return path.split('.').reduce<unknown>((held, name) => (isJsonObject(held) ? held[name] : undefined), value);
}

/** In front of the path may stand that of a proxy, which a destination's base URL names. */
function pathPattern(path: string): RegExp {
  if (path === '**') return /(?:)/;
  const parts = path
    .replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`)
    .replaceAll(/\{\w+\}/g, '[^/]+')
    .replaceAll(String.raw`\*\*`, '.+');
  return new RegExp(`${parts}$`);
}
