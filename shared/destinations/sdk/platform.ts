import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { isJsonObject } from '../../runtime/json.ts';
import type { OutboundAnswer, OutboundRequest } from '../../egress/outbound.ts';

/**
 * The behaviour of a scripted platform: check a request by its rules, or return a documented error.
 */
export const platformScenarios = {
  success: 'accepts valid requests and refuses invalid ones',
  refusal: 'refuses the whole request',
  'refused-row': 'refuses one event of the request',
  throttled: 'is rate limiting',
  'ended-token': 'refuses the credentials as wrong or expired',
  malformed: 'cannot read the body, because half of it is missing',
  'too-large': 'refuses the body as too large',
  unavailable: 'has an internal error',
} as const;

export type PlatformScenario = keyof typeof platformScenarios;

/** A problem that the platform finds in a request. */
export type PlatformProblem = {
  /** Field path with dots; empty for the whole request. */
  readonly field: string;
  readonly message: string;
  /** Index from 0 of the row that has the problem; undefined if the whole request has it. */
  readonly row?: number;
};

/** The outcome of one row of a request. */
export type RowVerdict = { readonly row: unknown; readonly problem: PlatformProblem | undefined };

/** A platform's response; a body that is not text is sent as JSON. */
export type ScriptedAnswer = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
};

/** A platform's responses, each in its documented form. */
export type PlatformAnswers = {
  /** Every row accepted. */
  success(rows: readonly unknown[]): ScriptedAnswer;
  /**
   * Some rows accepted. Only for a platform that reports rows; other platforms refuse the whole request if one row is
   * invalid.
   */
  partial?(rows: readonly RowVerdict[]): ScriptedAnswer;
  /** No row accepted. */
  refusal(problem: PlatformProblem): ScriptedAnswer;
  /** Contains the platform's own header or member for the retry delay, if there is one. */
  readonly throttled: ScriptedAnswer;
  readonly endedToken: ScriptedAnswer;
  /** Defaults to 413, for platforms that document no status. */
  readonly tooLarge?: ScriptedAnswer;
  /** Defaults to 503, for platforms that document no status. */
  readonly unavailable?: ScriptedAnswer;
};

/** Where a platform reads the credentials. */
export type PlatformCredentials =
  | { readonly in: 'header' | 'query' | 'body'; readonly name: string; readonly pattern: RegExp }
  | { readonly in: 'nowhere' };

/** Rows of a request: their location and schema. */
export type PlatformRows = {
  /** Path with dots to the list; empty if the body itself is the list. */
  readonly at: string;
  readonly schema: TSchema;
  /** Checks beyond the schema. Returns the field and its problem. */
  check?(row: unknown, nowMs: number): PlatformProblem | undefined;
};

/** One address of a platform, and the requests it accepts. */
export type PlatformEndpoint = {
  readonly method: OutboundRequest['method'];
  /** Path suffix: `{id}` matches one segment, `**` any path. */
  readonly path: string;
  readonly credentials: PlatformCredentials;
  /** Other required headers. Names in lower case. */
  readonly headers?: Readonly<Record<string, RegExp>>;
  /** Schema of the query, whose values are text. */
  readonly query?: TSchema;
  /** Format of the body; `text` is read by `parse` only. Form values are text. */
  readonly content: 'json' | 'form' | 'text' | 'none';
  /**
   * Parses a form whose names are paths, or a text that is neither JSON nor a form. Undefined if the
   * body is invalid.
   */
  parse?(body: string): unknown;
  /** Schema of the body. Rows in lists are checked one by one, by `rows`. */
  readonly body?: TSchema;
  /** Without rows the whole request is one row: its body or its query. */
  readonly rows?: readonly PlatformRows[];
  /** Maximum rows of all lists together. */
  readonly rowsMax?: number;
  /** Maximum bytes of the body. */
  readonly bytesMax?: number;
  /** Responses that differ from those of the platform's other endpoints. */
  readonly answers?: Partial<PlatformAnswers>;
};

export type PlatformDefinition = {
  readonly endpoints: readonly PlatformEndpoint[];
  readonly answers: PlatformAnswers;
};

export type JudgeOptions = {
  readonly scenario?: PlatformScenario;
  /** The row of a `refused-row` response; defaults to the first. */
  readonly refuses?: (row: unknown) => boolean;
  /** Overrides the platform's body limit. */
  readonly bytesMax?: number;
  /** Arrival time of the request, in ms since the epoch. */
  readonly nowMs?: number;
};

/** The platform's response to a request, with the accepted rows and the problems found. */
export type Judgement = {
  readonly answer: OutboundAnswer;
  /** The accepted rows, as they were in the request. */
  readonly taken: readonly unknown[];
  readonly problems: readonly PlatformProblem[];
};

/** A platform that responds as documented, without an account and without a network. Pure. */
export type Platform = {
  /** The endpoint of a request; undefined if the platform has no such address. */
  endpointOf(request: OutboundRequest): PlatformEndpoint | undefined;
  judge(request: OutboundRequest, options?: JudgeOptions): Judgement;
};

/** Credentials in a header, by default `Bearer …` in Authorization. */
export function inHeader(name = 'authorization', pattern = /^Bearer \S+$/): PlatformCredentials {
  return { in: 'header', name, pattern };
}

export function inQuery(name: string, pattern = /^\S+$/): PlatformCredentials {
  return { in: 'query', name, pattern };
}

/** Credentials in a member of the body, given as a path with dots. */
export function inBody(name: string, pattern = /^\S+$/): PlatformCredentials {
  return { in: 'body', name, pattern };
}

export const noCredentials: PlatformCredentials = { in: 'nowhere' };

/** Creates a scripted platform from what the platform documents. */
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
      return refused({ status }, { field: '', message: `${request.method} is not allowed at this address` });
    },
  };
}

type Judge = (request: OutboundRequest, options: JudgeOptions) => Judgement;

function compileJudge(endpoint: PlatformEndpoint, answers: PlatformAnswers): Judge {
  const query = checkOf(endpoint.query);
  const body = checkOf(endpoint.body);
  const lists = (endpoint.rows ?? []).map((list) => ({ ...list, problemIn: checkOf(list.schema) }));
  const { rowsMax = Infinity, content } = endpoint;

  /** The verdicts on the rows of all lists, with one row index across the lists. */
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

/** Simulates a row refused for a reason that only the platform can know. */
function withRefused(verdicts: readonly RowVerdict[], { refuses }: JudgeOptions): readonly RowVerdict[] {
  return verdicts.map(({ row, problem }, index) => {
    const isRefused = refuses === undefined ? index === 0 : refuses(row);
    return { row, problem: problem ?? (isRefused ? { ...trouble('refused-row'), row: index } : undefined) };
  });
}

function refused(answer: ScriptedAnswer, problem: PlatformProblem): Judgement {
  return { answer: written(answer), taken: [], problems: [problem] };
}

/** The problem that a scenario produces. */
function trouble(scenario: PlatformScenario): PlatformProblem {
  return { field: '', message: `the platform ${platformScenarios[scenario]}` };
}

function written({ status, headers = {}, body }: ScriptedAnswer): OutboundAnswer {
  if (body === undefined || typeof body === 'string') return { status, headers, body: body ?? '' };
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}

const unreadable = Symbol('unreadable');

/** The parsed body; `unreadable` if its format is wrong. */
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

/** The problem with the credentials; undefined if they are accepted. */
function strangerIn(
  credentials: PlatformCredentials,
  { headers }: OutboundRequest,
  parameters: Readonly<Record<string, string>>,
  said: unknown,
): PlatformProblem | undefined {
  if (credentials.in === 'nowhere') return undefined;
  const { name, pattern } = credentials;
  const given = { header: headers[name], query: parameters[name], body: memberAt(said, name) }[credentials.in];
  // The caller answers an unreadable body with a refusal.
  if (credentials.in === 'body' && said === unreadable) return undefined;
  if (typeof given === 'string' && pattern.test(given)) return undefined;
  return { field: name, message: 'the credentials are missing or wrong' };
}

type Check = (value: unknown) => PlatformProblem | undefined;

/** A check whose schema is compiled on first use, because a process uses few of its platforms. */
function checkOf(schema: TSchema | undefined): Check {
  if (schema === undefined) return () => undefined;
  let compiled: ReturnType<typeof Compile> | undefined;
  return (value) => {
    compiled ??= Compile(schema);
    if (compiled.Check(value)) return undefined;
    const [error] = compiled.Errors(value);
    if (error === undefined) return { field: '', message: 'does not have the documented form' };
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

/** The member at a path with dots; the value itself for an empty path. */
function memberAt(value: unknown, path: string): unknown {
  if (path === '') return value;
  return path.split('.').reduce<unknown>((held, name) => (isJsonObject(held) ? held[name] : undefined), value);
}

/** The path may begin with the path of a proxy from the destination's base URL. */
function pathPattern(path: string): RegExp {
  if (path === '**') return /(?:)/;
  const parts = path
    .replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`)
    .replaceAll(/\{\w+\}/g, '[^/]+')
    .replaceAll(String.raw`\*\*`, '.+');
  return new RegExp(`${parts}$`);
}
