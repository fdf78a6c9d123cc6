import { availableParallelism } from 'node:os';
import { plainFigure, ratioFigure } from '../result/figure.ts';
import type { ResultRow } from '../result/result.ts';
import { gatewayRate } from '../scaling/gateway-rate.ts';
import { otherDestinationsCost } from '../scaling/other-destinations-cost.ts';
import type { EventCost } from '../scaling/other-destinations-cost.ts';
import { resolveRate } from '../scaling/resolve-rate.ts';
import type { Scenario } from '../system/scenario.ts';

const gatewayCounts = [1, 2] as const;
/** Two gateways, two generators, the log and what is left: with fewer, the second gateway takes the first one's cores. */
const coresMin = 6;
const otherCounts = [0, 999] as const;
const shapes = [
  { partitions: 1, threads: 1 },
  { partitions: 2, threads: 1 },
  { partitions: 2, threads: 2 },
  { partitions: 4, threads: 1 },
  { partitions: 4, threads: 2 },
  { partitions: 4, threads: 4 },
] as const;

const keyOf = ({ partitions, threads }: (typeof shapes)[number]): string =>
  `resolving, ${partitions} partition${partitions === 1 ? '' : 's'}, ${threads} thread${threads === 1 ? '' : 's'}`;

/** What more processes, partitions and threads give, and what destinations of other accounts cost. */
export const scaling: Scenario = {
  name: 'scaling',
  summary: '1 and 2 gateways; 1, 2 and 4 partitions and threads; an event among 1 and 1,000 destinations',
  bars: [
    { id: 'gateways', text: '2 gateways against 1, where cores are free', limit: 1.7, unit: 'ratio', ask: 'at-least' },
    { id: 'cost', text: 'CPU of an event among 1,000 against 1', limit: 1.15, unit: 'ratio', ask: 'at-most' },
  ],
  async run(context) {
    const gateways = new Map<number, number[]>(gatewayCounts.map((count) => [count, []]));
    const resolving = new Map<string, number[]>(shapes.map((shape) => [keyOf(shape), []]));
    const costs = new Map<number, EventCost[]>(otherCounts.map((count) => [count, []]));
    for (let round = 1; round <= context.rounds; round += 1) {
      for (const count of gatewayCounts) gateways.get(count)?.push(await gatewayRate(context, count));
      for (const shape of shapes) resolving.get(keyOf(shape))?.push(await resolveRate(context, shape));
      for (const count of otherCounts) costs.get(count)?.push(await otherDestinationsCost(context, count));
    }
    const oneGateway = gateways.get(1) ?? [];
    const oneThread = resolving.get(keyOf(shapes[0])) ?? [];
    const cost = (others: number): number[] => (costs.get(others) ?? []).map(({ cpuMicros }) => cpuMicros);
    const cores = availableParallelism();
    const rows: ResultRow[] = [
      ...gatewayCounts.map((count) => ({
        name: `tracks, ${count} gateway${count === 1 ? '' : 's'}`,
        figures: {
          'events/s': plainFigure('per_s', 'more', gateways.get(count) ?? []),
          'of the least': ratioFigure(gateways.get(count) ?? [], oneGateway),
        },
        note: count > 1 && cores < coresMin ? `${cores} cores: load, log and gateways share them` : '',
      })),
      ...shapes.map((shape) => ({
        name: keyOf(shape),
        figures: {
          'events/s': plainFigure('per_s', 'more', resolving.get(keyOf(shape)) ?? []),
          'of the least': ratioFigure(resolving.get(keyOf(shape)) ?? [], oneThread),
        },
      })),
      ...otherCounts.map((others) => ({
        name: `delivering among ${others + 1} destination${others === 0 ? '' : 's'}`,
        figures: {
          'events/s': plainFigure(
            'per_s',
            'more',
            (costs.get(others) ?? []).map(({ perS }) => perS),
          ),
          'CPU an event': plainFigure(
            'ms',
            'less',
            cost(others).map((micros) => micros / 1000),
          ),
        },
      })),
    ];
    return {
      settings: { cores, connectionsPerLoad: 128, loadProcesses: 2 },
      rows,
      measured: {
        ...(cores < coresMin ? {} : { gateways: ratioFigure(gateways.get(2) ?? [], oneGateway).value }),
        cost: ratioFigure(cost(999), cost(0)).value,
      },
    };
  },
};
