import type { EntityManager } from '@mikro-orm/postgresql';
import { uuidv7 } from 'uuidv7';
import { Account } from '../../shared/postgres/entities.ts';
import type { Storage } from '../../shared/postgres/open-storage.ts';
import type { Principal } from '../api/define-endpoint.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { isUuid } from '../store/text.ts';
import { isValidAt } from './authenticate.ts';
import { readExpiry } from './api-key.ts';
import { addApiKey, listApiKeys, revokeApiKey } from './key-store.ts';
import { isScope } from './scopes.ts';

export type CommandContext = { readonly storage: Storage; readonly now: Date };

export type CreateOptions = {
  readonly name: string;
  readonly scopes: string;
  readonly expires?: string;
  readonly account?: string;
  readonly newAccount?: string;
};

/** A command that cannot do what was asked; the message is for the person at the shell. */
export class CommandError extends Error {
  readonly code = 'command';
}

const listedMax = 1_000;
const actorOf = (accountId: string): Principal => ({
  accountId,
  keyId: 'command-line',
  keyName: 'command line',
  scopes: ['all'],
  expiresAt: null,
});

/** Makes a key and returns it. */
export async function createKeyCommand({ storage, now }: CommandContext, options: CreateOptions): Promise<string> {
  const scopes = options.scopes.split(',').map((scope) => scope.trim());
  const unknown = scopes.find((scope) => !isScope(scope));
  if (unknown !== undefined) throw new CommandError(`--scopes: ${unknown || 'an empty name'} is not a scope`);
  const expiresAt = options.expires === undefined ? null : readExpiry(options.expires, now);
  if (expiresAt === undefined) throw new CommandError('--expires: give 12h, 90d or a date in the future');
  return storage.fork().transactional(async (em) => {
    const accountId =
      options.newAccount === undefined
        ? await findAccount(em, options.account)
        : await addAccount(em, options.newAccount, now);
    const { key, row } = await addApiKey(em, accountId, { name: options.name, scopes, expiresAt }, now);
    recordAudit(em, actorOf(accountId), { action: 'key.create', entityId: row.id, details: { scopes } }, now);
    return key;
  });
}

/** The keys of an account, one a line: prefix, name, state, scopes. */
export async function listKeysCommand({ storage, now }: CommandContext, account?: string): Promise<string> {
  const em = storage.fork();
  const keys = await listApiKeys(em, await findAccount(em, account), { limit: listedMax, after: undefined });
  return keys
    .map((key) => {
      const expiry = key.expiresAt === null || key.expiresAt === undefined ? 'never' : key.expiresAt.toISOString();
      const state = isValidAt(key, now) ? `valid, expires ${expiry}` : 'ended';
      return [`slk_${key.kid}`, key.name, state, key.scopes.join(',')].join('\t');
    })
    .join('\n');
}

/** Ends a key. */
export async function revokeKeyCommand(
  { storage, now }: CommandContext,
  key: string,
  account?: string,
): Promise<string> {
  return storage.fork().transactional(async (em) => {
    const accountId = await findAccount(em, account);
    const named = key.startsWith('slk_') ? (key.split('_')[1] ?? '') : key;
    const row = await revokeApiKey(em, accountId, named, now);
    if (row === undefined) throw new CommandError(`the account has no key ${named}`);
    recordAudit(em, actorOf(accountId), { action: 'key.revoke', entityId: row.id }, now);
    return `revoked slk_${row.kid} (${row.name})`;
  });
}

/** The id of the account that a command names, or of the only one. */
export async function findAccount(em: EntityManager, id: string | undefined): Promise<string> {
  const accounts = await em.find(Account, {}, { orderBy: { createdAt: 'asc' }, limit: 2 });
  if (id !== undefined) {
    const account = isUuid(id) ? await em.findOne(Account, { id }) : null;
    if (account === null) throw new CommandError(`--account: there is no account ${id}`);
    return account.id;
  }
  const [only, second] = accounts;
  if (only === undefined) throw new CommandError('there is no account yet: make one with --new-account <name>');
  if (second !== undefined) throw new CommandError('there are several accounts: name one with --account <id>');
  return only.id;
}

async function addAccount(em: EntityManager, name: string, now: Date): Promise<string> {
  const account = em.create(Account, { id: uuidv7(), name, liveVersionId: null, createdAt: now });
  await em.persist(account).flush();
  return account.id;
}
