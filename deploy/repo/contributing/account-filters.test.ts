import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const top = join(import.meta.dirname, '../../..');

/**
 * Statements that may read or write tables of all accounts: the file, a piece of the statement's text, and the reason.
 * All other statements have a condition `v.account_id = …` per table, with the table's alias on the left.
 */
const exceptions: readonly (readonly [file: string, piece: string, reason: string])[] = [
  ['control-plane/keys/authenticate.ts', 'ApiKey, { kid }', 'the key says which account it is of'],
  ['control-plane/publishing/outbox.ts', 'select account_id, max(id) as up_to', 'publishes all accounts'],
  ['control-plane/publishing/outbox.ts', 'OutboxRow, { pushedAt: null }', 'counts waiting accounts'],
  ['control-plane/publishing/outbox.ts', 'OutboxRow, { id }', 'the row that the caller has written'],
  ['control-plane/publishing/outbox.ts', 'OutboxRow, { pushedAt: { $lt:', 'deletes old rows of all accounts'],
  ['control-plane/rotation/sealed-otherwise.ts', 'select count(*) from entities', 'counts secrets of all accounts'],
  ['control-plane/sessions/sign-in-links.ts', 'where expires_at <= ?', 'deletes ended links of all accounts'],
  ['control-plane/sessions/sign-in-links.ts', 'where code_hash = ?', 'the code says which account it is of'],
  ['control-plane/erasures/erasure-notices.ts', 'where (id, part) >', 'announces the erasures of all accounts again'],
  [
    'control-plane/erasures/erasure-notices.ts',
    "where key_id = ''",
    'hashes the notices that an upgrade made, of all accounts',
  ],
  ['control-plane/erasures/erasure-targets.ts', 'with due as (', 'takes what is due of all accounts'],
  [
    'control-plane/erasures/erasure-targets.ts',
    'where erasure_id = $1 and destination_id',
    'an erasure is of one account',
  ],
  ['control-plane/erasures/erasure-targets.ts', 'subject = null where id = $1', 'an erasure is of one account'],
  [
    'control-plane/erasures/erasure-targets.ts',
    'subject is not null and due_at',
    'forgets what is overdue of all accounts',
  ],
  ['control-plane/erasures/erasure-targets.ts', 'on v.id = a.live_version_id', 'the live version of the account'],
  ['control-plane/erasures/erasure-targets.ts', 'as "dueSoon"', 'counts the erasures of all accounts'],
  ['deploy/cli/doctor/check-database.ts', 'from source_keys order by', 'tries a secret of any account'],
  ['deploy/cli/doctor/check-database.ts', "body ->> 'signingSecret'", 'tries a secret of any account'],
  ['deploy/cli/doctor/check-database.ts', 'from outbox where pushed_at is null', 'looks whether any account waits'],
  ['pipeline/workers/recent/trimmer.ts', 'with recursive accounts as', 'finds the accounts that have events'],
  ['pipeline/workers/resolve/write-violations.ts', 'where hour < now()', 'deletes old hours of all accounts'],
  ['shared/visitors/identity-counts.ts', 'where hour < now()', 'deletes old hours of all accounts'],
  ['shared/visitors/erasure-records.ts', 'update erasure_records set erased_at', 'the row that the caller has written'],
  ['shared/visitors/erasure-records.ts', 'update erasure_records set due_at', 'the row that the caller has written'],
  ['shared/visitors/suppressions.ts', 'select max(erased_at) as newest from erasures', 'when anybody was erased last'],
  ['shared/visitors/visitor-statements.ts', 'as newest_erasure_ms', 'when anybody was erased last'],
];

/** Tables whose rows belong to an account, read from the migrations. */
async function accountTables(): Promise<readonly string[]> {
  const files = await sources('shared/postgres/migrations');
  const texts = await Promise.all(files.map((file) => readFile(join(top, file), 'utf8')));
  const made = texts.flatMap((text) => [...text.matchAll(/create table (\w+) \(([^`]*)\)`/g)]);
  return made.flatMap(([, name = '', columns = '']) => (/^\s*account_id uuid/m.test(columns) ? [name] : []));
}

async function sources(...under: string[]): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)('git', ['ls-files', '-co', '--exclude-standard', ...under], {
    cwd: top,
  });
  return stdout.split('\n').filter((file) => /\.tsx?$/.test(file) && !/\.test\.ts$|\/testing\//.test(file));
}

/** The texts of a file's strings, including strings within `${…}` of another string. */
function stringsOf(code: string): readonly string[] {
  const found: string[] = [];
  const readTemplate = (start: number): number => {
    let text = '';
    let at = start;
    while (at < code.length && code[at] !== '`') {
      if (code[at] === '\\') {
        text += code[at + 1];
        at += 2;
      } else if (code.startsWith('${', at)) {
        const from = at;
        at = readCode(at + 2, true);
        text += code.slice(from, at);
      } else {
        text += code[at];
        at += 1;
      }
    }
    found.push(text);
    return at + 1;
  };
  const readCode = (start: number, inBraces: boolean): number => {
    let depth = 0;
    for (let at = start; at < code.length;) {
      const char = code[at] ?? '';
      if (inBraces && char === '}' && depth === 0) return at + 1;
      if (char === '{') depth += 1;
      if (char === '}') depth -= 1;
      const comment = /\/\*[\s\S]*?\*\/|\/\/[^\n]*/y;
      comment.lastIndex = at;
      const quoted = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/y;
      quoted.lastIndex = at;
      if (char === '`') at = readTemplate(at + 1);
      else if (comment.test(code)) at = comment.lastIndex;
      else if (quoted.test(code)) {
        found.push(code.slice(at + 1, quoted.lastIndex - 1));
        at = quoted.lastIndex;
      } else at += 1;
    }
    return code.length;
  };
  readCode(0, false);
  return found;
}

const words = new Set([
  'as',
  'on',
  'where',
  'set',
  'using',
  'order',
  'left',
  'cross',
  'join',
  'select',
  'group',
  'limit',
]);

/** The tables of a statement, with their aliases, that no condition limits to an account. */
function unlimited(statement: string, tables: readonly string[]): readonly string[] {
  const sql = statement.replaceAll(/--[^\n]*/g, '').replaceAll(/\s+/g, ' ');
  const looksAt = new RegExp(
    String.raw`\b(?:from|join|update|using) (?:only )?(${tables.join('|')})\b(?: (?:as )?(\w+))?`,
    'gi',
  );
  const aliases = [...sql.matchAll(looksAt)].map(([, table = '', alias = '']) =>
    alias === '' || words.has(alias.toLowerCase()) ? table : alias,
  );
  return [...new Set(aliases)].flatMap((alias) => {
    const wanted = aliases.filter((one) => one === alias).length;
    const name = tables.includes(alias) ? String.raw`(?:${alias}\.|(?<![\w.]))` : String.raw`\b${alias}\.`;
    const conditions = [...sql.matchAll(new RegExp(`${name}account_id (?:=|in \\()`, 'g'))].length;
    const limits = conditions + [...sql.matchAll(new RegExp(`\\b${alias} using \\(account_id\\b`, 'g'))].length;
    return limits < wanted ? [`${alias}: ${wanted} times, limited ${limits} times`] : [];
  });
}

const entities = 'ConfigEntity|ApiKey|AuditEntry|OutboxRow|SourceKey|Version';

/** Calls of the ORM whose condition has no account. If the condition is a variable, it is looked up in the file. */
function unlimitedCalls(code: string): readonly string[] {
  const calls = code.matchAll(
    new RegExp(
      String.raw`\b(?:find\w*|count|nativeUpdate|nativeDelete)\(\s*((?:${entities}),\s*(\w+|[^;]*?\})[^;]{0,60})`,
      'g',
    ),
  );
  return [...calls].flatMap(([, text = '', condition = '']) => {
    const defined = /^\w+$/.test(condition) ? new RegExp(String.raw`const ${condition} = \{([^;]*)`).exec(code) : null;
    const named = defined?.[1];
    return /\baccountId\b|\bothers\b/.test(named ?? text) ? [] : [text];
  });
}

async function findUnlimited(file: string, tables: readonly string[]): Promise<readonly string[]> {
  const code = await readFile(join(top, file), 'utf8');
  const statements = stringsOf(code).flatMap((text) => {
    if (!/\b(?:select|update|delete|insert|with)\b/i.test(text)) return [];
    return unlimited(text, tables).map((problem) => `${problem}: ${text}`);
  });
  return [...statements, ...unlimitedCalls(code)].map((text) => `${file}: ${text}`);
}

test('accounts: every statement names the account of each table it looks at', async () => {
  const tables = await accountTables();
  expect(tables).toEqual(expect.arrayContaining(['entities', 'visitors', 'recent_events', 'erasures']));
  const files = await sources('shared', 'pipeline', 'control-plane', 'gateway', 'deploy');
  const looked = files.filter((file) => !/^(?:shared\/postgres\/migrations|control-plane\/console)\//.test(file));
  const found = (await Promise.all(looked.map((file) => findUnlimited(file, tables)))).flat();
  const isException = (text: string): boolean =>
    exceptions.some(([file, piece]) => text.startsWith(`${file}: `) && text.includes(piece));
  expect(found.filter((text) => !isException(text))).toEqual([]);
  // An exception that is no longer needed would hide the next mistake.
  const needed = exceptions.filter(([file, piece]) => found.some((one) => one.startsWith(file) && one.includes(piece)));
  expect(needed).toEqual(exceptions);
});

test('accounts: a statement that leaves out the account of a table is found', () => {
  const tables = ['visitors', 'recent_events'];
  for (const [sql, count] of [
    ['select * from visitors where account_id = $1', 0],
    ['select * from visitors where id = $1', 1],
    ['delete from visitors v using known k where v.account_id = k.account_id and v.id = k.id', 0],
    ['delete from visitors v using known k where v.id = k.id', 1],
    ['update visitors set version = 2 where account_id = $1 and id in (select id from visitors where id = $2)', 1],
    ['select 1 from recent_events e join visitors v on v.account_id = e.account_id where e.account_id = $1', 0],
    ['select 1 from recent_events e join visitors v on v.account_id = e.account_id where e.id = $1', 1],
    ['select 1 from recent_events e join visitors v on v.id = e.visitor_id where e.account_id = $1', 1],
  ] as const) {
    expect([sql, unlimited(sql, tables).length]).toEqual([sql, count]);
  }
  expect(unlimitedCalls('em.findOne(Version, { id })')).toHaveLength(1);
  expect(unlimitedCalls('em.findOne(Version, { accountId, id })')).toHaveLength(0);
});
