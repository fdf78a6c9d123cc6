import { useState } from 'react';
import type { ReactElement } from 'react';
import { Link } from 'react-router';
import { useAccounts } from '../api/accounts.ts';
import { useRead } from '../api/queries.ts';
import type { PipelineWork } from '../api/types.ts';
import { State, Waiting } from '../design/feedback.tsx';
import type { Tone } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { countOf, showCount, showMs, showShare } from '../design/numbers.ts';
import { Card, Empty } from '../design/page.tsx';
import { Table } from '../design/table.tsx';

type Actor = PipelineWork['actors'][number];
type Thread = PipelineWork['threads'][number];

const shownMax = 200;
const mebibyte = 1024 ** 2;

/** The threads of each pipeline with their load, and the actors that they run. */
export function WorkCard(): ReactElement {
  const query = useRead<{ readonly entities: readonly PipelineWork[] }>('/system/work', { everyMs: 4_000 });
  const [text, setText] = useState('');
  const threads = query.data?.entities.flatMap(({ instanceId, threads: own, actors }) =>
    own.map((thread) => ({
      ...thread,
      instanceId,
      actors: actors.filter((actor) => actor.thread === thread.thread).length,
    })),
  );
  const actors = query.data?.entities
    .flatMap(({ instanceId, actors: own }) => own.map((actor) => ({ ...actor, instanceId })))
    .filter((actor) => `${actor.kind} ${actor.key} ${actor.name ?? ''}`.toLowerCase().includes(text.toLowerCase()));
  const more = query.data?.entities.reduce((sum, { actorsMore }) => sum + actorsMore, 0) ?? 0;
  return (
    <>
      <Card title="Threads" isFlush>
        <Waiting query={query} />
        {threads?.length === 0 ? <Empty title="No pipeline reports its threads." /> : null}
        {threads === undefined || threads.length === 0 ? null : (
          <Table
            label="Threads"
            rows={threads.toSorted((a, b) => a.thread - b.thread)}
            keyOf={({ instanceId, thread }) => `${instanceId} ${thread}`}
            columns={threadColumns}
          />
        )}
      </Card>
      <Card title="Actors" isFlush>
        <div className="body">
          <form className="inline" role="search" onSubmit={(event) => event.preventDefault()}>
            <Field label="Search">
              {(ids) => <input {...ids} type="search" value={text} onChange={(event) => setText(event.target.value)} />}
            </Field>
            <p className="soft" role="status">
              {countOf(actors?.length ?? 0, 'actor')}
              {more > 0 ? `, and ${showCount(more)} not shown` : ''}
            </p>
          </form>
        </div>
        {actors === undefined || actors.length === 0 ? null : (
          <Table
            label="Actors"
            rows={actors.slice(0, shownMax)}
            keyOf={({ instanceId, kind, key }) => `${instanceId} ${kind} ${key}`}
            columns={actorColumns}
          />
        )}
        {(actors?.length ?? 0) > shownMax ? (
          <div className="body">
            <p className="hint">The first {shownMax}. Search for the others.</p>
          </div>
        ) : null}
      </Card>
    </>
  );
}

const threadColumns = [
  {
    title: 'Pipeline',
    cell: ({ instanceId }: Thread & { instanceId: string }) => <span className="clip mono">{instanceId}</span>,
  },
  { title: 'Thread', isNumber: true, cell: ({ thread }: Thread) => thread },
  {
    title: 'State',
    cell: ({ isReady, isLogConnected, silentMs }: Thread) =>
      !isReady ? (
        <State tone="bad">Not started</State>
      ) : !isLogConnected ? (
        <State tone="bad">No connection to the log</State>
      ) : silentMs > 10_000 ? (
        <State tone="warn">Silent for {showMs(silentMs)}</State>
      ) : (
        <State tone="good">Working</State>
      ),
  },
  { title: 'Actors', isNumber: true, cell: ({ actors }: { readonly actors: number }) => showCount(actors) },
  { title: 'Busy', isNumber: true, cell: ({ utilization }: Thread) => showShare(utilization) },
  { title: 'Event loop delay', isNumber: true, cell: ({ delayP99Ms }: Thread) => showMs(delayP99Ms) },
  {
    title: 'Heap',
    isNumber: true,
    cell: ({ heapUsedBytes }: Thread) => `${showCount(Math.round(heapUsedBytes / mebibyte))} MiB`,
  },
];

const states: Readonly<Record<string, readonly [Tone, string]>> = {
  running: ['good', 'Running'],
  starting: ['warn', 'Starting'],
  moving: ['warn', 'Moving to another thread'],
  stopping: ['off', 'Stopping'],
  waiting: ['bad', 'Not assigned'],
  quarantined: ['bad', 'Failing repeatedly: paused'],
};

type PlacedActor = Actor & { readonly instanceId: string };

/** What an actor works on: a partition, a destination, or the account shown. */
function ActorSubject({ actor: { key, name } }: { readonly actor: PlacedActor }): ReactElement {
  const { current } = useAccounts();
  if (key === current?.accountId) return <span dir="auto">{current.accountName}</span>;
  return name === null ? (
    <span className="clip mono">{key}</span>
  ) : (
    <Link className="clip" dir="auto" to={`/destinations/${key}`}>
      {name}
    </Link>
  );
}

const actorColumns = [
  { title: 'Actor', cell: ({ kind }: PlacedActor) => kind },
  {
    title: 'Works for',
    cell: (actor: PlacedActor) => <ActorSubject actor={actor} />,
  },
  {
    title: 'State',
    cell: ({ state, failuresInARow }: PlacedActor) => {
      const [tone, word] = states[state] ?? ['warn', state];
      return (
        <State tone={tone}>
          {word}
          {failuresInARow === 0 ? null : (
            <span className="hint">failed {countOf(failuresInARow, 'time')} in a row</span>
          )}
        </State>
      );
    },
  },
  {
    title: 'Thread',
    cell: ({ instanceId, thread }: PlacedActor) => (
      <span className="clip">
        <span className="mono">{instanceId}</span>
        {thread === null ? '' : `, thread ${thread}`}
      </span>
    ),
  },
];
