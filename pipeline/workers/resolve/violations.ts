import { describeHit } from '../../../shared/routing/tracking-plan/describe-hit.ts';
import type { Hit } from '../../../shared/routing/tracking-plan/compile-tracking-plan.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import type { Envelope } from '../../../shared/contracts/events/envelope.ts';
import { objectOf } from './read-event.ts';
import type { ViolationRow } from './write-violations.ts';

/** Maximum number of groups counted between two writes; violations of further groups are counted as skipped. */
const groupsMax = 5_000;
/** Maximum number of groups of one account; violations of further groups are counted together, by their rule. */
const accountGroupsMax = 500;
export const otherGroups = '_other';

const hourMs = 3_600_000;
// Names are shortened so that the whole key fits into an entry of the table's index.
const charactersMax = { event: 200, source: 64, version: 64, rule: 64 } as const;

export type Violated = { readonly envelope: Envelope; readonly name: string; readonly hit: Hit };

type Group = { row: ViolationRow; count: number; lastAtMs: number };

/**
 * Counts violations of tracking plans between two writes, by rule, event, source and version of the app. A violation
 * belongs to the hour in which its event was received. A crash loses unwritten counts.
 */
export class Violations {
  readonly #groups = new Map<string, Group>();
  readonly #groupsOfAccount = new Map<string, number>();

  /** Counts a violation. Returns false if there is no room for its group. */
  note({ envelope, name, hit }: Violated): boolean {
    const { account, source, at } = envelope;
    const hourAtMs = Math.floor(at / hourMs) * hourMs;
    const whole = {
      event: text(name, charactersMax.event),
      sourceId: text(source, charactersMax.source),
      appVersion: appVersionOf(envelope),
    };
    const rule = text(hit.rule, charactersMax.rule);
    const keyOf = (own: typeof whole): string =>
      JSON.stringify([account, hourAtMs, rule, own.event, own.sourceId, own.appVersion]);
    const known = this.#groups.get(keyOf(whole));
    if (known !== undefined) return count(known, at);
    const own = (this.#groupsOfAccount.get(account) ?? 0) < accountGroupsMax ? whole : others;
    const key = keyOf(own);
    const other = this.#groups.get(key);
    if (other !== undefined) return count(other, at);
    if (this.#groups.size >= groupsMax) return false;
    const { action, severity } = hit;
    const sample = own === whole ? text(describeHit(hit), sampleCharactersMax) : '';
    const row = { accountId: account, hourAtMs, rule, ...own, action, severity, firstAtMs: at, sample };
    this.#groups.set(key, { row, count: 1, lastAtMs: at });
    this.#groupsOfAccount.set(account, (this.#groupsOfAccount.get(account) ?? 0) + 1);
    return true;
  }

  /** Returns all counts since the last call, and resets them. */
  take(): readonly (ViolationRow & { readonly count: number; readonly lastAtMs: number })[] {
    const taken = [...this.#groups.values()].map(({ row, count: events, lastAtMs }) => ({
      ...row,
      count: events,
      lastAtMs,
    }));
    this.#groups.clear();
    this.#groupsOfAccount.clear();
    return taken;
  }
}

const sampleCharactersMax = 200;
const others = { event: otherGroups, sourceId: '', appVersion: '' };

function count(group: Group, atMs: number): true {
  group.count += 1;
  group.lastAtMs = Math.max(group.lastAtMs, atMs);
  return true;
}

function appVersionOf({ body, ctx }: Envelope): string {
  const context: JsonObject = { ...ctx?.defaultProperties, ...objectOf(body.defaultProperties) };
  const version = context['app_version'] ?? context['version'];
  return typeof version === 'string' || typeof version === 'number' ? text(String(version), charactersMax.version) : '';
}

/** Shortens a text, and removes what PostgreSQL cannot store. */
const text = (given: string, max: number): string => given.replaceAll('\0', '').slice(0, max).toWellFormed();
