import { didYouMean } from '../../../shared/command-line/closest-name.ts';
import { CommandError } from '../../../shared/command-line/run-command.ts';
import { decodeAccountConfig } from '../../../shared/contracts/config/account-config.ts';
import { withoutSignature } from '../../../shared/contracts/config/signed-config.ts';
import { deadLetterSubject } from '../../../shared/contracts/subjects.ts';
import { readBucket } from '../../../shared/nats/buckets/bucket.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import { countBySubject } from '../../../shared/nats/messages/subject-log.ts';
import { buckets, streams } from '../../../shared/nats/streams/topology.ts';

type LiveDestination = { readonly id: string; readonly name: string };

/**
 * Finds a destination by its id or by its name in any case, and returns its id. A removed destination is found by id
 * while it has dead letters. Throws CommandError.
 */
export async function findDestination(connection: LogConnection, of: string): Promise<string> {
  const live = await liveDestinations(connection);
  const named = live.filter(({ id, name }) => id === of || name.toLowerCase() === of.toLowerCase());
  const [only, second] = named;
  if (second !== undefined) {
    throw new CommandError(`several destinations have the name ${of}: give an id (${idsOf(named)})`);
  }
  if (only !== undefined) return only.id;
  if (isId(of) && (await countBySubject(connection, streams.deadLetters, deadLetterSubject(of))).size > 0) return of;
  const names = [...new Set(live.map(({ name }) => name))];
  const hint = didYouMean(of, [...names, 'ingest']) || listed(names);
  throw new CommandError(
    `no live destination has the id or the name ${of}, and the log has no dead letters of it${hint}`,
  );
}

const namesShown = 5;

/** The first names of live destinations, as a hint in an error message. */
function listed(names: readonly string[]): string {
  if (names.length === 0) return '';
  const more = names.length > namesShown ? ', …' : '';
  return `; there are: ${names.slice(0, namesShown).join(', ')}${more}`;
}

const isId = (text: string): boolean => /^[A-Za-z0-9_-]+$/.test(text);

const idsShown = 5;
const idsOf = (named: readonly LiveDestination[]): string =>
  named
    .slice(0, idsShown)
    .map(({ id }) => id)
    .join(', ');

/** The live destinations of all accounts. Only the operator sees their names, so no signature is verified. */
async function liveDestinations(connection: LogConnection): Promise<readonly LiveDestination[]> {
  const configs = await readBucket(connection, buckets.config);
  return [...(configs?.values() ?? [])].flatMap((bytes) => {
    const { collections } = decodeAccountConfig(withoutSignature(bytes));
    return (collections['destinations'] ?? []).map(({ id, name }) => ({ id, name: String(name) }));
  });
}
