import { useState } from 'react';
import type { ReactElement } from 'react';
import { Link, useParams } from 'react-router';
import { useRead } from '../api/queries.ts';
import type { RecentEvent, Way } from '../api/types.ts';
import { Code, showJson } from '../design/code.tsx';
import { ErrorNote, State, Waiting } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { Card, Empty, Page } from '../design/page.tsx';
import { RequestView } from '../design/shown-request.tsx';
import { At } from '../design/time.tsx';
import { EventOutcome } from './event-outcome.tsx';
import { visitorName } from './event-table.tsx';
import { ConsentAnswers } from './consent-answers.tsx';
import { PlanState } from './outcomes.tsx';
import { RuleName } from './rule-name.tsx';
import { useRuleNames } from './use-rule-names.ts';
import { useSourceNames } from './use-source-names.ts';
import { WayState } from './way-state.tsx';

/** One event and its delivery: receipt, resolution, decisions and attempts. */
export function EventPage(): ReactElement {
  const { id = '' } = useParams();
  const path = `/events/${encodeURIComponent(id)}`;
  const query = useRead<RecentEvent>(path, { everyMs: 3_000 });
  const event = query.data;
  return (
    <Page
      title={event?.event ?? 'Event'}
      lead={<span className="mono">{id}</span>}
      back={{ to: '/events', label: 'Events' }}
    >
      <Waiting query={query} />
      {event === undefined ? null : (
        <>
          <div className="columns">
            <Arrival event={event} />
            <Card title="Content">
              {event.truncated ? (
                <p className="note warn">This event is large: parts of it are not kept in this view.</p>
              ) : null}
              <Code label="Properties" text={showJson(event.eventProperties)} />
              <Code label="Context" text={showJson(event.context)} />
              <Code label="Visitor after this event" text={showJson(event.visitor)} />
            </Card>
          </div>
          <Ways event={event} path={path} />
        </>
      )}
    </Page>
  );
}

function Arrival({ event }: { readonly event: RecentEvent }): ReactElement {
  const sourceName = useSourceNames();
  const ways = useLiveWays(event);
  const unsent = whyUnsent(event);
  const nameOf = (id: string): string =>
    ways.data?.ways.find(({ destinationId }) => destinationId === id)?.name ??
    (ways.isSuccess ? 'a destination that is no longer live' : 'a destination');
  return (
    <Card title="Delivery">
      <ol className="steps">
        <li>
          <strong>Happened</strong>
          <At at={event.time} />
        </li>
        <li>
          <strong>Arrived</strong>
          <div className="stack tight">
            <At at={event.receivedAt} />
            <span>
              from{' '}
              <Link dir="auto" to={`/sources/${event.sourceId}`}>
                {sourceName(event.sourceId)}
              </Link>
              {event.test ? ', with its test key' : ''}
            </span>
          </div>
        </li>
        <li>
          <strong>Resolved</strong>
          <div className="stack tight">
            {event.visitorId === '' ? null : (
              <span>
                as{' '}
                <Link to={`/visitors/${encodeURIComponent(event.visitorId)}`}>
                  {visitorName(event.visitor) ?? `visitor ${event.visitorId}`}
                </Link>
              </span>
            )}
            {event.plan === null ? null : <BrokenRules plan={event.plan} isTest={event.test} />}
            <span className="hint">
              {event.versionNumber === null
                ? 'The version that was live is unknown.'
                : `Under version ${event.versionNumber}.`}
            </span>
          </div>
        </li>
        <li>
          <strong>Sent</strong>
          <div className="stack">
            {unsent === undefined ? null : <span className="soft">{unsent}</span>}
            {event.outcomes.map((outcome) => (
              <EventOutcome
                key={outcome.destinationId}
                eventId={event.id}
                outcome={outcome}
                destinationName={nameOf(outcome.destinationId)}
              />
            ))}
            <ErrorNote error={ways.error} />
            {unsent === undefined ? <WithoutOutcome event={event} ways={ways.data?.ways ?? []} /> : null}
          </div>
        </li>
      </ol>
    </Card>
  );
}

type BrokenRulesProps = { readonly plan: NonNullable<RecentEvent['plan']>; readonly isTest: boolean };

/** The effect of the tracking plan on the event, and the rules that the event breaks. */
function BrokenRules({ plan, isTest }: BrokenRulesProps): ReactElement {
  const named = useRuleNames();
  return (
    <>
      <PlanState outcome={plan.outcome} isTest={isTest} />
      {plan.rules.map(({ rule, property }) => (
        <span key={`${rule} ${property}`}>
          <RuleName rule={rule} {...(named.get(rule) ?? { ruleName: null, ruleCollection: null })} />
          {property === null ? null : <span className="hint mono">{property}</span>}
        </span>
      ))}
    </>
  );
}

/**
 * The live rules' decision for each destination. Not requested for test, quarantined and dropped events, because these
 * are never sent.
 */
function useLiveWays(event: RecentEvent) {
  return useRead<{ readonly ways: readonly Way[] }>(`/events/${encodeURIComponent(event.id)}/ways?rules=live`, {
    everyMs: 5_000,
    enabled: whyUnsent(event) === undefined,
  });
}

/** Why no destination gets the event, whatever the rules decide; undefined if the rules decide. */
function whyUnsent({ test, visitorId, plan }: RecentEvent): string | undefined {
  if (test) return 'Not sent: received with a test key.';
  if (visitorId !== '') return undefined;
  return `Not sent: the tracking plan ${plan?.outcome === 'dropped' ? 'dropped' : 'quarantined'} it.`;
}

/** The live version's destinations that have no outcome yet: whether the event waits or is not sent there, and why. */
function WithoutOutcome({ event, ways }: { readonly event: RecentEvent; readonly ways: readonly Way[] }): ReactElement {
  const known = new Set(event.outcomes.map(({ destinationId }) => destinationId));
  const others = ways.filter(({ destinationId }) => !known.has(destinationId));
  return (
    <>
      {others.map((way) => (
        <div key={way.destinationId} className="stack tight">
          <span className="row">
            {way.decision === 'send' ? <State tone="warn">No outcome yet</State> : <WayState decision={way.decision} />}
            <Link className="clip" dir="auto" to={`/destinations/${way.destinationId}`}>
              {way.name}
            </Link>
          </span>
          <span className="hint">{way.waiting ?? way.why}</span>
        </div>
      ))}
    </>
  );
}

/** A preview for each destination: by the live rules or by the draft. */
function Ways({ event, path }: { readonly event: RecentEvent; readonly path: string }): ReactElement {
  const [rules, setRules] = useState<'live' | 'draft'>('live');
  const [chosen, setChosen] = useState<string>();
  const query = useRead<{ readonly ways: readonly Way[] }>(`${path}/ways?rules=${rules}`);
  const ways = query.data?.ways ?? [];
  return (
    <Card title="What the rules decide for each destination">
      <div style={{ maxWidth: 320 }}>
        <Field label="Rules of" hint="This is a preview: nothing is sent.">
          {(ids) => (
            <select
              {...ids}
              value={rules}
              onChange={(input) => setRules(input.target.value === 'draft' ? 'draft' : 'live')}
            >
              <option value="live">the live version</option>
              <option value="draft">the draft</option>
            </select>
          )}
        </Field>
      </div>
      <Waiting query={query} />
      {query.isSuccess && ways.length === 0 ? <Empty title="This version has no destinations." /> : null}
      <ul className="problems">
        {ways.map((way) => {
          const isOpen = chosen === way.destinationId;
          return (
            <li key={way.destinationId}>
              <WayState decision={way.decision} />
              <Link to={`/destinations/${way.destinationId}`} dir="auto">
                {way.name}
              </Link>
              <span className="soft">{way.why}</span>
              <ConsentAnswers answers={way.consent} />
              {way.eventName !== null && way.eventName !== event.event ? <span>as {way.eventName}</span> : null}
              {way.decision === 'send' ? (
                <button
                  type="button"
                  className="plain"
                  aria-expanded={isOpen}
                  onClick={() => setChosen(isOpen ? undefined : way.destinationId)}
                >
                  {isOpen ? 'Hide the request' : 'Show the request'}
                </button>
              ) : null}
              {isOpen ? <Preview path={path} rules={rules} destinationId={way.destinationId} /> : null}
            </li>
          );
        })}
      </ul>
    </Card>
  );
}

type PreviewProps = { readonly path: string; readonly rules: string; readonly destinationId: string };

function Preview({ path, rules, destinationId }: PreviewProps): ReactElement {
  const query = useRead<{ readonly ways: readonly Way[] }>(
    `${path}/ways?rules=${rules}&destinationId=${encodeURIComponent(destinationId)}`,
  );
  const way = query.data?.ways[0];
  return (
    <div className="stack" style={{ flexBasis: '100%' }}>
      <Waiting query={query} />
      {way?.request === undefined || way.request === null ? <p>{way?.why}</p> : <RequestView request={way.request} />}
    </div>
  );
}
