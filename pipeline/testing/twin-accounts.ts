import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { FrameWriter } from '../../shared/contracts/events/frame.ts';
import { encodeResolved } from '../../shared/contracts/events/resolved-event.ts';
import { eventsSubject } from '../../shared/contracts/subjects.ts';
import { sampleEvent } from '../../shared/destinations/sdk/sample-event.ts';
import { publishWithRetry } from '../../shared/nats/publish/publisher.ts';
import { readStateOfAccount } from '../../shared/testing/state-of-account.ts';
import type { StateOfAccount } from '../../shared/testing/state-of-account.ts';
import { idsOf } from '../../shared/testing/scripted-destination.ts';
import type { DestinationAnswer, ScriptedDestination } from '../../shared/testing/scripted-destination.ts';
import { httpEntity } from './account-config.ts';
import type { PipelineRig } from './pipeline-rig.ts';
import { until } from '../../shared/testing/until.ts';

/** An event of a resolved frame. */
export type ResolvedTestEvent = { readonly id: string; readonly visitor: string; readonly receivedAtMs?: number };

/** One of two accounts with equal contents. Its destination `well` accepts everything; `fails` answers as scripted. */
export type Twin = {
  readonly accountId: string;
  readonly well: string;
  readonly fails: string;
  /**
   * Publishes the account's configuration, which has the same rules, consent settings and names as that of its twin.
   * Returns the revision.
   */
  publish(): Promise<number>;
  /** Publishes the configuration with `fails` disabled, so that the retries of `fails` wait. */
  disable(): Promise<unknown>;
  /** Publishes the configuration without destinations. */
  remove(): Promise<unknown>;
  /** Puts events into a frame of EVENTS. Both accounts have visitors with the same ids. */
  resolved(events: readonly ResolvedTestEvent[]): Promise<void>;
  /** Ids of the events that a destination accepted. */
  taken(of: 'well' | 'fails'): string[];
  /** Sets what `fails` answers to each event. */
  answer(script: (eventId: string) => DestinationAnswer): void;
};

/** Id of a rule; the same in both accounts. */
export const ruleId = 'rule-of-both';

/**
 * The test writes frames to this partition, to which no resolver of the test writes: a resolver that detects another
 * writer restarts, and counts violations again.
 */
const strangersPartition = 1;

export function openTwin(rig: PipelineRig, sink: ScriptedDestination, scripts: Map<string, Script>): Twin {
  const [accountId, well, fails] = [randomUUID(), randomUUID(), randomUUID()];
  const pathOf = (id: string): string => `/${accountId}/${id}`;
  const settings = { batchSize: '1' };
  const rules = {
    dataGovernanceRules: [
      {
        id: ruleId,
        name: 'No secrets',
        description: null,
        isEnabled: true,
        severity: 'Warning',
        eventName: null,
        property: 'event.event_properties.secret',
        type: 'Forbidden',
        expected: null,
        action: 'Quarantine',
      },
    ],
    consentSettings: [
      {
        id: 'consent-of-both',
        name: 'advertising',
        description: null,
        isEnabled: true,
        defaultState: 'Granted',
        regions: null,
        destinationIds: [well],
        signals: null,
      },
    ],
  };
  const entityOf = (id: string, status = 'Enabled') => httpEntity(id, `${sink.url}${pathOf(id)}`, { settings, status });
  return {
    accountId,
    well,
    fails,
    publish: () => rig.configure(accountId, { ...rules, destinations: [entityOf(well), entityOf(fails)] }),
    disable: () => rig.configure(accountId, { ...rules, destinations: [entityOf(well), entityOf(fails, 'Disabled')] }),
    remove: () => rig.configure(accountId, rules),
    async resolved(events) {
      const writer = new FrameWriter();
      for (const { id, visitor, receivedAtMs = Date.now() } of events) {
        const own = { id, event: 'Order', time: Date.now(), source_id: 'source-1', received_at: receivedAtMs };
        const sample = sampleEvent({ ...own, account_id: accountId, test: false });
        writer.appendLine(encodeResolved({ ...sample, visitor: { ...sample.visitor, id: visitor } }));
      }
      const subject = eventsSubject(accountId, strangersPartition);
      const message = { subject, payload: writer.bytes(), msgId: randomUUID() };
      await publishWithRetry(rig.connection, message, { attemptsMax: 6 });
    },
    taken: (of) => sink.taken(pathOf(of === 'well' ? well : fails)),
    answer: (script) => scripts.set(pathOf(fails), script),
  };
}

type Script = (eventId: string) => DestinationAnswer;

/** Two accounts on one pipeline. */
export function openTwins(rig: PipelineRig, sink: ScriptedDestination): readonly [Twin, Twin] {
  const scripts = new Map<string, Script>();
  sink.answer(({ path, body }) => scripts.get(path)?.(idsOf(body)[0] ?? '') ?? 200);
  return [openTwin(rig, sink, scripts), openTwin(rig, sink, scripts)];
}

/**
 * Streams and buckets that are divided by process or partition, not by account. They are not compared: what they hold
 * for an account is checked by its effects.
 */
const ofProcesses: ReadonlySet<string> = new Set(['KV_LEASES', 'DEDUPLICATION']);

/** The stored state of an account, once it no longer changes. */
export async function settledState(pool: Pool, rig: PipelineRig, twin: Twin): Promise<StateOfAccount> {
  const read = async (): Promise<StateOfAccount> => {
    const state = await readStateOfAccount({ pool, log: rig.connection }, twin.accountId, [twin.well, twin.fails]);
    return Object.fromEntries(Object.entries(state).filter(([name]) => !ofProcesses.has(name)));
  };
  let state = await read();
  let same = 0;
  await until('nothing of the account changes', async () => {
    const now = await read();
    same = JSON.stringify(now) === JSON.stringify(state) ? same + 1 : 0;
    state = now;
    return same >= 5;
  });
  return state;
}
