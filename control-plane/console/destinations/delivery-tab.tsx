import { Suspense, lazy } from 'react';
import type { ReactElement } from 'react';
import { useSearchParams } from 'react-router';
import { useRead } from '../api/queries.ts';
import type { Backlog, Delivery, Destination } from '../api/types.ts';
import { Loading, Waiting } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { countOf } from '../design/numbers.ts';
import { Card, Empty } from '../design/page.tsx';
import { TimeInput } from '../design/time-input.tsx';
import { At } from '../design/time.tsx';
import { OlderEvents } from './older-events.tsx';
import { DeliveryReasons } from './delivery-reasons.tsx';
import { DeliverySteps } from './delivery-steps.tsx';
import { DeliveryFunnel, NamesTable } from './delivery-funnel.tsx';
import { deliveryRanges, readRange, usualRange } from './delivery-range.ts';

const AnswersChart = lazy(async () => ({ default: (await import('./answers-chart.tsx')).AnswersChart }));

const everyMs = 10_000;

/** The outcomes of a destination's events in a range: by stage, by name, over time. */
export function DeliveryTab({ destination: { id } }: { readonly destination: Destination }): ReactElement {
  const [search, setSearch] = useSearchParams();
  const range = readRange(search, Date.now());
  const event = search.get('event') ?? '';
  const query = new URLSearchParams(
    range === undefined
      ? {}
      : {
          from: new Date(range.fromMs).toISOString(),
          to: new Date(range.toMs).toISOString(),
          ...(event === '' ? {} : { event }),
        },
  );
  const delivery = useRead<Delivery>(`/destinations/${id}/delivery?${query.toString()}`, {
    everyMs,
    enabled: range !== undefined,
    name: `/destinations/${id}/delivery of ${search.toString()}`,
  });
  const backlog = useRead<Backlog>(`/destinations/${id}/backlog`, { everyMs });
  const choose = (name: string, value: string): void => {
    const next = new URLSearchParams(search);
    if (value === '') next.delete(name);
    else next.set(name, value);
    setSearch(next, { replace: true });
  };
  return (
    <>
      <RangeForm search={search} choose={choose} names={delivery.data?.names ?? []} />
      {range === undefined ? <p role="alert">The range must end after it begins.</p> : <Waiting query={delivery} />}
      {range === undefined || delivery.data === undefined ? null : (
        <Shown id={id} delivery={delivery.data} event={event} waitingFrames={backlog.data?.waitingFrames ?? 0} />
      )}
    </>
  );
}

type RangeFormProps = {
  readonly search: URLSearchParams;
  readonly names: Delivery['names'];
  choose(name: string, value: string): void;
};

function RangeForm({ search, names, choose }: RangeFormProps): ReactElement {
  const event = search.get('event') ?? '';
  const known = names.flatMap((one) => (one.event === null ? [] : [one.event]));
  const isCustom = search.get('range') === 'custom';
  return (
    <form className="inline" role="search" onSubmit={(submitted) => submitted.preventDefault()}>
      <Field label="Received">
        {(ids) => (
          <select
            {...ids}
            value={search.get('range') ?? usualRange}
            onChange={({ target }) => choose('range', target.value)}
          >
            {Object.entries(deliveryRanges).map(([range, [label]]) => (
              <option key={range} value={range}>
                {label}
              </option>
            ))}
            <option value="custom">From … to …</option>
          </select>
        )}
      </Field>
      {isCustom
        ? (['from', 'to'] as const).map((name) => (
            <TimeInput
              key={name}
              label={name === 'from' ? 'From' : 'To'}
              of="minute"
              value={search.get(name) ?? ''}
              onChange={(value) => choose(name, value)}
            />
          ))
        : null}
      <Field label="Event name">
        {(ids) => (
          <select {...ids} value={event} onChange={({ target }) => choose('event', target.value)}>
            <option value="">All</option>
            {[...new Set([...known, ...(event === '' ? [] : [event])])].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
      </Field>
      <p className="hint">Times are in your zone, {Intl.DateTimeFormat().resolvedOptions().timeZone}.</p>
    </form>
  );
}

type ShownProps = {
  readonly id: string;
  readonly delivery: Delivery;
  readonly event: string;
  readonly waitingFrames: number;
};

function Shown({ id, delivery, event, waitingFrames }: ShownProps): ReactElement {
  const { from, to, since, total, names, steps } = delivery;
  const link = { destinationId: id, fromMs: Date.parse(from), toMs: Date.parse(to) };
  const isEmpty = total.received + total.replayed === 0;
  return (
    <>
      <Card title={event === '' ? 'Delivery of its events' : `Delivery of “${event}”`}>
        {isEmpty ? (
          <Empty title="No events received in this range.">
            <p>
              Events are not counted if their source is not connected to this destination, or if their name is not
              allowed for it.
            </p>
          </Empty>
        ) : (
          <DeliveryFunnel total={total} link={link} event={event} />
        )}
        <p className="hint">
          Events received from <At at={from} /> to <At at={to} />, with their current state. Select a number to list its
          events. The list is ordered by event time and may be a sample.
          {waitingFrames === 0
            ? null
            : ` ${countOf(waitingFrames, 'batch', 'batches')} in the log have not been read yet and are not counted.`}
        </p>
        <OlderEvents fromMs={Math.max(link.fromMs, since === null ? 0 : Date.parse(since))} />
        {since !== null && Date.parse(since) > Date.parse(from) ? (
          <div className="note">
            <p>
              Events are counted since <At at={since} />. Earlier events are not included.
            </p>
          </div>
        ) : null}
      </Card>
      {isEmpty ? null : (
        <>
          <NamesTable names={names} link={link} />
          <DeliveryReasons delivery={delivery} link={link} event={event} />
          <DeliverySteps steps={steps} stepMs={delivery.stepMs} destinationId={id} event={event} />
        </>
      )}
      <Card title="Response time and throttling">
        <Suspense fallback={<Loading />}>
          <AnswersChart delivery={delivery} />
        </Suspense>
      </Card>
    </>
  );
}
