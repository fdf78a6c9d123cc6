import type { EntityManager } from '@mikro-orm/postgresql';
import { uuidv7 } from 'uuidv7';
import { didYouMean } from '../../shared/command-line/closest-name.ts';
import type { Printed } from '../../shared/command-line/printed.ts';
import { CommandError } from '../../shared/command-line/run-command.ts';
import { Account } from '../../shared/postgres/entities.ts';
import type { Storage } from '../../shared/postgres/open-storage.ts';
import type { Principal } from '../api/define-endpoint.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { isUuid } from '../store/text.ts';
import { isValidAt } from './authenticate.ts';
import { readExpiry } from './api-key.ts';
import { addApiKey, listApiKeys, revokeApiKey } from './key-store.ts';
import { isScope, scopeNames } from './scopes.ts';

export type CommandContext = { readonly storage: Storage; readonly now: Date };

export type CreateOptions = {
  readonly name: string;
  readonly scopes: string;
  readonly expires?: string;
  readonly account?: string;
  readonly newAccount?: string;
};

const listedMax = 1_000;
/** The principal on whose behalf a shell command acts. */
export const toolOf = (accountId: string): Principal => ({
  accountId,
  kind: 'tool',
  id: 'command-line',
  name: 'command line',
  scopes: ['all'],
  expiresAt: null,
});

/** Makes a key and returns it. */
export async function createKeyCommand({ storage, now }: CommandContext, options: CreateOptions): Promise<Printed> {
  const scopes = options.scopes.split(',').map((scope) => scope.trim());
  const unknown = scopes.find((scope) => !isScope(scope));
  if (unknown !== undefined) {
    const meant = didYouMean(unknown, scopeNames) || '; npm run keys -- scopes lists them';
    throw new CommandError(`--scopes: ${unknown || 'an empty name'} is not a scope${meant}`);
  }
  const expiresAt = options.expires === undefined ? null : readExpiry(options.expires, now);
  if (expiresAt === undefined) throw new CommandError('--expires: give 12h, 90d or a date in the future');
  return storage.fork().transactional(async (em) => {
    const accountId =
      options.newAccount === undefined
        ? await findAccount(em, options.account)
        : await addAccount(em, options.newAccount, now);
    const { key, row } = await addApiKey(em, accountId, { name: options.name, scopes, expiresAt }, now);
    recordAudit(em, toolOf(accountId), { action: 'key.create', entityId: row.id, details: { scopes } }, now);
    return { text: key, value: { key, id: row.id, name: row.name, scopes, expiresAt, accountId } };
  });
}

/** The keys of an account, one a line: prefix, name, state, scopes. */
export async function listKeysCommand({ storage, now }: CommandContext, account?: string): Promise<Printed> {
  const em = storage.fork();
  const keys = await listApiKeys(em, await findAccount(em, account), { limit: listedMax, after: undefined });
  const shown = keys.map((key) => ({
    prefix: `slk_${key.kid}`,
    name: key.name,
    isValid: isValidAt(key, now),
    expiresAt: key.expiresAt?.toISOString() ?? null,
    scopes: key.scopes,
  }));
  const lines = shown.map(({ prefix, name, isValid, expiresAt, scopes }) =>
    [prefix, name, isValid ? `valid, expires ${expiresAt ?? 'never'}` : 'ended', scopes.join(',')].join('\t'),
  );
  return { text: lines.join('\n'), value: shown };
}

/** Ends a key. */
export async function revokeKeyCommand(
  { storage, now }: CommandContext,
  key: string,
  account?: string,
): Promise<Printed> {
  return storage.fork().transactional(async (em) => {
    const accountId = await findAccount(em, account);
    const named = key.startsWith('slk_') ? (key.split('_')[1] ?? '') : key;
    const row = await revokeApiKey(em, accountId, named, now);
    if (row === undefined) {
      // The secret of a whole key is not printed.
      const typed = key.startsWith('slk_') ? `slk_${named}` : key;
      const others = await listApiKeys(em, accountId, { limit: listedMax, after: undefined });
      const meant = didYouMean(
        typed,
        others.flatMap(({ kid, id }) => [`slk_${kid}`, id]),
      );
      throw new CommandError(`the account has no key ${typed}${meant}`);
    }
    recordAudit(em, toolOf(accountId), { action: 'key.revoke', entityId: row.id }, now);
    const revoked = { prefix: `slk_${row.kid}`, name: row.name };
    return { text: `revoked ${revoked.prefix} (${revoked.name})`, value: { revoked } };
  });
}

/** The id of the account that a command names by id or name; without a name, of the only account. */
export async function findAccount(em: EntityManager, named: string | undefined): Promise<string> {
  if (named !== undefined) return findNamedAccount(em, named);
  const [only, second] = await em.find(Account, {}, { orderBy: { createdAt: 'asc' }, limit: 2 });
  if (only === undefined) throw new CommandError('there is no account yet: create one with --new-account <name>');
  if (second !== undefined) throw new CommandError('there are several accounts: name one with --account <id or name>');
  return only.id;
}

async function findNamedAccount(em: EntityManager, named: string): Promise<string> {
  const byId = isUuid(named) ? await em.findOne(Account, { id: named }) : null;
  if (byId !== null) return byId.id;
  const accounts = await em.find(Account, {}, { orderBy: { createdAt: 'asc' }, limit: listedMax });
  const [only, second] = accounts.filter(({ name }) => name.toLowerCase() === named.toLowerCase());
  if (second !== undefined) throw new CommandError(`--account: several accounts have the name ${named}: give an id`);
  if (only !== undefined) return only.id;
  const meant = didYouMean(
    named,
    accounts.map(({ name }) => name),
  );
  throw new CommandError(`--account: there is no account ${named}${meant}`);
}

async function addAccount(em: EntityManager, name: string, now: Date): Promise<string> {
  const account = em.create(Account, { id: uuidv7(), name, liveVersionId: null, createdAt: now });
  await em.persist(account).flush();
  return account.id;
}
