import { Type } from 'typebox';
import { definePlatform, noCredentials } from '../sdk/platform.ts';
import type { PlatformProblem } from '../sdk/platform.ts';

const entryId = /^(\*|\d+(-(\d+|\*))?)$/;
const error = (status: number, word: string) => ({ status, body: { error: word } });

/**
 * XADD to a stream, in the form that `shared/egress/protocols/redis.ts` receives.
 * https://redis.io/docs/latest/commands/xadd/
 */
export const redisPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '**',
      credentials: noCredentials,
      content: 'json',
      body: Type.Array(Type.Unknown(), { minItems: 1 }),
      rows: [{ at: '', schema: Type.Array(Type.String(), { minItems: 5 }), check: wrongCommand }],
    },
  ],
  answers: {
    success: (rows) => ({ status: 200, body: rows.map((_row, index) => ({ value: `1526919030474-${index}` })) }),
    partial: (verdicts) => ({
      status: 200,
      body: verdicts.map(({ problem }, index) =>
        problem === undefined ? { value: `1526919030474-${index}` } : { error: 'ERR' },
      ),
    }),
    refusal: () => error(400, 'ERR'),
    throttled: error(429, 'ERR'),
    endedToken: error(401, 'WRONGPASS'),
    unavailable: error(503, 'LOADING'),
  },
});

/** The problem of a command that is not `XADD key [MAXLEN [=|~] threshold] <*|id> field value […]`, if any. */
function wrongCommand(row: unknown): PlatformProblem | undefined {
  const [name, key, ...rest] = row as readonly string[];
  if (name !== 'XADD') return { field: '0', message: 'ERR unknown command' };
  if (key === undefined) return { field: '1', message: 'is required' };
  const trimming = trimmingIn(rest);
  if (trimming === undefined) return { field: '', message: 'ERR value is not an integer or out of range' };
  const [id = '', ...fields] = rest.slice(trimming);
  if (!entryId.test(id)) return { field: '', message: 'ERR Invalid stream ID specified as stream command argument' };
  if (fields.length === 0 || fields.length % 2 === 1) return { field: '', message: 'ERR wrong number of arguments' };
  return undefined;
}

/** The number of arguments that limit the stream's length; undefined if they are invalid. */
function trimmingIn([option, ...words]: readonly string[]): number | undefined {
  if (option !== 'MAXLEN') return 0;
  const isMarked = words[0] === '~' || words[0] === '=';
  return /^\d+$/.test(words[isMarked ? 1 : 0] ?? '') ? (isMarked ? 3 : 2) : undefined;
}
