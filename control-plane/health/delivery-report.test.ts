import { expect, test } from 'vitest';
import { answerColumn } from '../../shared/contracts/delivery-counts.ts';
import type { DeliveryCounts } from '../../shared/contracts/delivery-counts.ts';
import { fineStepMs, hourMs } from '../../shared/contracts/step-counts.ts';
import { reportDelivery, reportSources } from './delivery-report.ts';

const nowMs = 480_000 * hourMs + 30 * 60_000;
const nowStep = nowMs / fineStepMs;

type Counts = readonly (readonly [row: string, column: string, count: number])[];

/** A table with the counts `fine` in one fine step and the counts `hours` in one hour. */
function table(fine: Counts, hours: Counts = [], hour = 0): NonNullable<DeliveryCounts['names']> {
  const rows = [...new Set([...fine, ...hours].map(([row]) => row))];
  const columns = [...new Set([...fine, ...hours].map(([, column]) => column))];
  const cells = (counts: Counts): number[] =>
    counts.flatMap(([row, column, count]) => [rows.indexOf(row) * columns.length + columns.indexOf(column), count]);
  return {
    since: nowMs - 50 * hourMs,
    rows,
    columns,
    fine: fine.length === 0 ? [] : [[nowStep, ...cells(fine)]],
    hours: hours.length === 0 ? [] : [[hour, ...cells(hours)]],
    hoursUntil: nowMs / hourMs - 24,
  };
}

test('delivery report: a stage holds the events that entered it minus the events that left it, over all pipelines', () => {
  const first = table([
    ['Order', 'log>delivered', 5],
    ['Order', 'log>retrying', 3],
    ['Order', 'log>waiting', 2],
    ['Order', 'log>stopped mapping m1', 4],
    ['', 'log>delivered', 1],
  ]);
  const second = table([
    ['Order', 'retrying>delivered', 1],
    ['Order', 'retrying>dead exhausted', 1],
    ['Order', 'waiting>retrying', 1],
    ['Order', 'replay>delivered', 1],
  ]);
  const range = { fromMs: nowMs - 10 * 60_000, toMs: nowMs + 1 };
  const { total, names, filtered, deadLetters, steps } = reportDelivery(
    [[undefined, { names: first }], [{ names: second }]],
    range,
  );
  const order = {
    received: 14,
    replayed: 1,
    filtered: 4,
    waiting: 1,
    retrying: 2,
    deadLetters: 1,
    delivered: 7,
    deliveredLate: 1,
  };
  expect(names).toEqual([
    { event: 'Order', ...order },
    expect.objectContaining({ event: null, received: 1, delivered: 1 }),
  ]);
  expect(total).toEqual({ ...order, received: 15, delivered: 8 });
  expect(order.received + order.replayed).toBe(
    order.filtered + order.waiting + order.retrying + order.deadLetters + order.delivered,
  );
  expect(filtered).toEqual([{ reason: 'mapping m1', events: 4 }]);
  expect(deadLetters).toEqual([{ reason: 'exhausted', events: 1 }]);
  expect(steps).toHaveLength(3);
  expect(steps.at(-1)).toMatchObject({ at: nowMs, received: 15 });
  const ofOne = reportDelivery([[{ names: first }]], { ...range, event: 'Order' });
  expect([ofOne.total.received, ofOne.names.length]).toEqual([14, 2]);
});

test('delivery report: two entries of one pipeline are not added up', () => {
  const parts = [{ names: table([['a', 'log>delivered', 5]]) }, { names: table([['a', 'log>delivered', 7]]) }];
  const { total } = reportDelivery([parts], { fromMs: nowMs, toMs: nowMs + 1 });
  expect(total.delivered).toBe(7);
});

test('delivery report: steps are whole hours if part of the range is counted only by the hour', () => {
  const names = table([['a', 'log>delivered', 1]], [['a', 'log>delivered', 10]], nowMs / hourMs - 30.5);
  const fromMs = nowMs - 30.25 * hourMs;
  const report = reportDelivery([[{ names }]], { fromMs, toMs: nowMs + 1 });
  expect(report).toMatchObject({ stepMs: hourMs, fromMs: fromMs - 15 * 60_000, sinceMs: nowMs - 50 * hourMs });
  expect(report.total.delivered).toBe(11);
  const week = reportDelivery([[{ names }]], { fromMs: nowMs - 168 * hourMs, toMs: nowMs });
  expect(week.steps.length).toBeLessThanOrEqual(85);
  expect(week.total.delivered).toBe(11);
});

test('delivery report: answer times and throttled attempts of all pipelines are added up', () => {
  const answers = (ms: number, count: number) =>
    table([
      ['', answerColumn(ms), count],
      ['', 'throttled', 2],
    ]);
  const range = { fromMs: nowMs, toMs: nowMs + 1 };
  const { steps } = reportDelivery([[{ answers: answers(20, 9) }], [{ answers: answers(1_000, 1) }]], range);
  const [step] = steps;
  expect(step).toMatchObject({ requests: 10, throttled: 4 });
  expect(step?.answerMs?.half).toBeGreaterThan(16);
  expect(step?.answerMs?.half).toBeLessThan(25);
  expect(step?.answerMs?.most).toBeGreaterThan(800);
});

test('delivery report: a source has the events that it sent and that were delivered within the range', () => {
  const sources = table([['shop', 'log>delivered', 3]], [['shop', 'log>delivered', 9]], nowMs / hourMs - 40.5);
  expect(reportSources([[{ sources }]], nowMs - 24 * hourMs).get('shop')).toMatchObject({ received: 3, delivered: 3 });
});
