import { UntranslatableMessageError, resolveMessages } from '../../repo/destinations/resolve-messages.ts';
import { contentInTurn } from '../../../shared/destinations/sdk/request-content.ts';
import type { OfferedKind } from '../../../shared/destinations/common-settings.ts';
import { destinationKinds, findDestinationKind } from '../../../shared/destinations/registry.ts';
import { UnfitEventError } from '../../../shared/destinations/sdk/destination.ts';
import { SettingError } from '../../../shared/destinations/sdk/settings.ts';
import { skipReason } from '../../../shared/destinations/sdk/skip-reason.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import { compareMembers, generalPath, memberAt } from './compare-members.ts';
import type { Difference } from './compare-members.ts';
import type { Recording } from './read-recordings.ts';
import { recordedPayload } from './recorded-payload.ts';

/** What this side does with a recorded event. */
type Made =
  | { readonly sent: unknown }
  /** Not sent, with the reason: the destination has no use for it, or refuses it. */
  | { readonly skipped: string }
  | { readonly refused: string };

export type Comparison = {
  readonly verdict: 'same' | 'differs' | 'only-there' | 'only-here';
  readonly differences: readonly Difference[];
  /** Why this side sends nothing. */
  readonly reason?: string;
};

export type CompareOptions = {
  /** Additional members sent by this side are not differences. */
  readonly onlyExpected: boolean;
  /** Paths, without indexes, of members to ignore with everything below them. */
  readonly ignored: readonly string[];
};

/** A recording that cannot be compared: the message names the member. */
export class RecordingError extends Error {
  readonly code = 'recording_unusable';
}

/** Compares a recording with the requests of this side for the same event. Throws RecordingError. */
export function compareRecording(recording: Recording, { onlyExpected, ignored }: CompareOptions): Comparison {
  const made = requestFor(recording);
  const isSentThere = recording.expected !== 'skipped';
  if (!('sent' in made)) {
    const reason = 'skipped' in made ? `skipped: ${made.skipped}` : `refused: ${made.refused}`;
    return { verdict: isSentThere ? 'only-there' : 'same', differences: [], reason };
  }
  if (!isSentThere) return { verdict: 'only-here', differences: [] };
  const ours = recording.at === undefined ? made.sent : memberAt(made.sent, recording.at);
  const differences = compareMembers(recordedPayload(recording.expected), ours).filter(
    ({ kind, path }) => !(onlyExpected && kind === 'extra') && !isIgnored(path, ignored),
  );
  return { verdict: differences.length === 0 ? 'same' : 'differs', differences };
}

function isIgnored(path: string, ignored: readonly string[]): boolean {
  const general = generalPath(path);
  return ignored.some((one) => general === one || general.startsWith(`${one}.`) || general.startsWith(`${one}[`));
}

function requestFor(recording: Recording): Made {
  const kind = findDestinationKind(recording.kind);
  if (kind === undefined) throw new RecordingError(`kind: ${unknownKind(recording.kind)}`);
  const prepared = prepare(kind, recording.settings ?? {});
  const arrivalMs = arrivalOf(recording.event);
  try {
    const resolved = resolveMessages(messagesOf(recording), arrivalMs).at(-1);
    if (resolved === undefined) throw new RecordingError('event: is missing');
    const event = { resolved };
    if (prepared.accepts?.(event) === false) return { skipped: skipReason(kind.facts, event) };
    return { sent: contentInTurn(prepared.buildRequest([event], arrivalMs)) };
  } catch (error) {
    if (error instanceof UnfitEventError) return { refused: error.message };
    if (error instanceof UntranslatableMessageError) throw new RecordingError(`event: ${error.message}`);
    throw error;
  }
}

function unknownKind(name: string): string {
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  const near = destinationKinds.find(({ descriptor, facts }) =>
    [descriptor.id, descriptor.label, ...(facts.namesElsewhere ?? [])].some((other) => plain(other) === plain(name)),
  );
  const hint = near === undefined ? 'README.md lists the types' : `it is ${near.descriptor.id} here`;
  return `${JSON.stringify(name)} is not a destination type: ${hint}`;
}

function prepare(kind: OfferedKind, settings: JsonObject): ReturnType<OfferedKind['prepare']> {
  const known = new Set(kind.descriptor.settings.map(({ key }) => key));
  const unknown = Object.keys(settings).find((key) => !known.has(key));
  if (unknown !== undefined) throw new RecordingError(`settings.${unknown}: ${kind.descriptor.id} has no such setting`);
  const given = Object.entries({ ...kind.exampleSettings, ...settings }).filter(([, value]) => value !== null);
  try {
    return kind.prepare(Object.fromEntries(given));
  } catch (error) {
    if (error instanceof SettingError) throw new RecordingError(error.message);
    throw error;
  }
}

/** The messages to resolve. An identify with the event's ids goes before the event to set the person's traits. */
function messagesOf({ person, before = [], event }: Recording): readonly JsonObject[] {
  if (person === undefined) return [...before, event];
  const { userId, anonymousId, timestamp, originalTimestamp } = event;
  const identify = { type: 'identify', messageId: 'person', userId, anonymousId, timestamp, originalTimestamp };
  return [{ ...identify, traits: person }, ...before, event];
}

/** The time of receipt: the event's own time, so that the result depends neither on its age nor on the clock. */
function arrivalOf({ receivedAt, sentAt, timestamp, originalTimestamp }: JsonObject): number {
  for (const given of [receivedAt, sentAt, timestamp, originalTimestamp]) {
    const timeMs = typeof given === 'string' ? Date.parse(given) : Number.NaN;
    if (!Number.isNaN(timeMs)) return timeMs;
  }
  throw new RecordingError('event: needs a timestamp, or a receivedAt or sentAt, as an ISO 8601 date');
}
