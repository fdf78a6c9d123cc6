import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { defineSettings, fromEnv } from '../../shared/runtime/settings.ts';
import { optionalText } from '../../shared/runtime/variables.ts';
import { defineService } from '../api/services.ts';

export const { variables: alertsEnv, read: readPrometheusUrl } = defineSettings(
  fromEnv({
    PROMETHEUS_URL: optionalText(
      'Base URL of the Prometheus that has the alerting rules: the console then shows which alerts are open',
      { pattern: '^https?://' },
    ),
  }),
);

const alert = Type.Object({
  name: Type.String(),
  severity: Type.String({ description: 'page: an operator has to act now. ticket: it can wait for a working day.' }),
  state: Type.Enum(['pending', 'firing'], { description: 'pending: the condition has not lasted long enough yet.' }),
  activeAt: nullable(Type.String({ format: 'date-time' })),
  summary: Type.String(),
  destinationId: nullable(
    Type.String({ description: 'The destination that the alert concerns; null if it concerns none.' }),
  ),
  description: Type.String(),
});

export const alertsReply = Type.Object({
  isConfigured: Type.Boolean({ description: 'Whether PROMETHEUS_URL is set.' }),
  problem: nullable(Type.String({ description: 'Why alerts cannot be read; null if they can.' })),
  entities: Type.Array(alert, { description: 'The gravest first.' }),
});

export type Alerts = Static<typeof alertsReply>;
export type AlertsReader = { read(): Promise<Alerts> };

export const alerts = defineService<AlertsReader>('alerts');

/** The response of Prometheus at `/api/v1/alerts`: https://prometheus.io/docs/prometheus/latest/querying/api/#alerts */
const answer = Compile(
  Type.Object({
    status: Type.Literal('success'),
    data: Type.Object({
      alerts: Type.Array(
        Type.Object({
          state: Type.Enum(['inactive', 'pending', 'firing']),
          activeAt: Type.Optional(Type.String()),
          labels: Type.Record(Type.String(), Type.String()),
          annotations: Type.Record(Type.String(), Type.String()),
        }),
      ),
    }),
  }),
);

const timeoutMs = 3_000;
/** Prefix of Sluice's alerts: alerts of other rules in the same Prometheus are left out. */
const ownPrefix = 'Sluice';

/** Queries Prometheus, at most once in `freshMs` for all requests. */
export function createAlertsReader(prometheusUrl: string | undefined, freshMs = 5_000): AlertsReader {
  let newest: { readonly atMs: number; readonly alerts: Promise<Alerts> } | undefined;
  return {
    async read() {
      if (prometheusUrl === undefined) return { isConfigured: false, problem: null, entities: [] };
      const atMs = performance.now();
      if (newest === undefined || atMs - newest.atMs >= freshMs) newest = { atMs, alerts: ask(prometheusUrl) };
      return newest.alerts;
    },
  };
}

async function ask(prometheusUrl: string): Promise<Alerts> {
  try {
    const url = `${prometheusUrl.replace(/\/+$/, '')}/api/v1/alerts`;
    const reply = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
    return { isConfigured: true, problem: null, entities: readAlerts(await reply.json()) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { isConfigured: true, problem: `reading alerts from PROMETHEUS_URL: ${reason}`, entities: [] };
  }
}

/**
 * The open alerts of a response, the gravest first. Throws if the response is not Prometheus's list of alerts. Pure.
 */
export function readAlerts(body: unknown): Alerts['entities'] {
  if (!answer.Check(body)) throw new Error('the answer is not a list of alerts of Prometheus');
  return body.data.alerts
    .flatMap(({ state, activeAt, labels, annotations }) => {
      const name = labels['alertname'] ?? '';
      if (state === 'inactive' || !name.startsWith(ownPrefix)) return [];
      const ms = Date.parse(activeAt ?? '');
      return [
        {
          name,
          severity: labels['severity'] ?? '',
          state,
          activeAt: Number.isNaN(ms) ? null : new Date(ms).toISOString(),
          summary: annotations['summary'] ?? name,
          destinationId: destinationOf(labels['destination_id']),
          description: annotations['description'] ?? '',
        },
      ];
    })
    .toSorted((a, b) => gravity(a) - gravity(b));
}

function gravity({ severity, state }: Alerts['entities'][number]): number {
  return (state === 'firing' ? 0 : 2) + (severity === 'page' ? 0 : 1);
}

/** The series with the label `_…` sums all destinations that have no label of their own. */
const destinationOf = (label: string | undefined): string | null =>
  label === undefined || label === '' || label.startsWith('_') ? null : label;
