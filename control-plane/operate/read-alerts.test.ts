import { expect, test } from 'vitest';
import { createAlertsReader, readAlerts } from './read-alerts.ts';

const alert = (alertname: string, severity: string, state: string) => ({
  state,
  activeAt: '2026-01-31T12:00:00.123456789Z',
  labels: { alertname, severity, ...(alertname === 'SluiceSlow' ? { destination_id: 'd1' } : {}) },
  annotations: { summary: `${alertname} is open`, runbook_url: 'somewhere' },
});

test('alerts: only pending and firing alerts of Sluice are shown, the gravest first', () => {
  const alerts = [
    alert('SluiceLate', 'ticket', 'pending'),
    alert('SluiceSlow', 'ticket', 'firing'),
    alert('NodeDown', 'page', 'firing'),
    alert('SluiceDown', 'page', 'firing'),
    alert('SluiceWell', 'page', 'inactive'),
  ];
  expect(readAlerts({ status: 'success', data: { alerts } })).toMatchObject([
    {
      name: 'SluiceDown',
      severity: 'page',
      activeAt: '2026-01-31T12:00:00.123Z',
      summary: 'SluiceDown is open',
      destinationId: null,
    },
    { name: 'SluiceSlow', state: 'firing', destinationId: 'd1' },
    { name: 'SluiceLate', state: 'pending' },
  ]);
  expect(() => readAlerts({ status: 'error' })).toThrow('Prometheus');
});

test('alerts: without an address nothing is requested, and a server that does not answer is reported in words', async () => {
  expect(await createAlertsReader(undefined).read()).toEqual({ isConfigured: false, problem: null, entities: [] });
  const { problem, entities } = await createAlertsReader('http://127.0.0.1:1/').read();
  expect(problem).toContain('PROMETHEUS_URL');
  expect(entities).toEqual([]);
});
