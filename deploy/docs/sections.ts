import { readFile } from 'node:fs/promises';
import { buildOpenApi } from '../../control-plane/api/build-openapi.ts';
import { documents } from '../../control-plane/endpoints.ts';
import { topFolder } from '../../shared/runtime/compiled-path.ts';
import { environmentPage } from '../repo/environment/environment-page.ts';
import { standardEventsPage } from '../repo/destinations/standard-events-page.ts';
import { metricsTable } from '../prometheus/metrics-table.ts';
import { sourcesPage } from '../repo/sources/sources-page.ts';
import { apiPages } from './api-pages.ts';
import type { ApiDocument } from './api-pages.ts';
import { destinationPages, destinationTables } from './destination-pages.ts';
import { ingestDocument } from './ingest-document.ts';
import type { Page, Section } from './page.ts';

/** The OpenAPI documents of the configuration API and the ingest API. */
export function apiDocuments(): readonly ApiDocument[] {
  const own = documents.find(({ name }) => name === undefined);
  if (own === undefined) throw new Error('documentation: the configuration interface is not described');
  return [
    { name: 'ingest', label: 'Ingest', document: ingestDocument() },
    { name: 'control-plane', label: 'Configuration', document: buildOpenApi(own) },
  ];
}

/**
 * Every page of the site, in the order of its navigation.
 * Large: the list of pages.
 */
export async function readSections(apis: readonly ApiDocument[]): Promise<readonly Section[]> {
  const pages = 'deploy/docs/pages';
  const overview = await written('destinations', `${pages}/destinations.md`, 'All destinations');
  return [
    {
      title: 'Start',
      pages: [
        await written('index', `${pages}/index.md`, 'Overview'),
        await written('start', `${pages}/start.md`),
        await written('concepts', `${pages}/concepts.md`),
      ],
    },
    {
      title: 'Connect',
      pages: [
        await written('connect/page', `${pages}/connect/page.md`, 'A web page'),
        await written('connect/server', `${pages}/connect/server.md`, 'A server'),
        await written('connect/app', `${pages}/connect/app.md`, 'An app'),
        made('connect/webhooks', sourcesPage(), 'Webhooks of other services'),
      ],
    },
    {
      title: 'Migrate',
      pages: [
        await written('migrate/segment', `${pages}/migrate/segment.md`, 'From Segment'),
        await written('migrate/rudderstack', `${pages}/migrate/rudderstack.md`, 'From RudderStack'),
        await written('migrate/posthog', `${pages}/migrate/posthog.md`, 'From PostHog'),
        await written('migrate/jitsu', `${pages}/migrate/jitsu.md`, 'From Jitsu'),
        await written('migrate/snowplow', `${pages}/migrate/snowplow.md`, 'From Snowplow'),
        await written('migrate/compare', `${pages}/migrate/compare.md`, 'Compare the two'),
      ],
    },
    {
      title: 'Configure',
      pages: [
        { ...overview, markdown: `${overview.markdown}\n\n${destinationTables()}` },
        made('standard-events', standardEventsPage(), 'Standard events'),
        await written('privacy', `${pages}/privacy.md`),
        await written('privacy-walkthrough', `${pages}/privacy-walkthrough.md`),
        await written('experiments', `${pages}/experiments.md`),
        await written('bucketing', 'shared/experiments/BUCKETING.md', 'Bucketing'),
      ],
    },
    { title: 'Destinations', pages: destinationPages() },
    {
      title: 'Operate',
      pages: [
        await written('operate', 'deploy/runbook/README.md', 'Runbook'),
        await written('operate/symptoms', 'deploy/runbook/symptoms.md', 'By symptom'),
        await written('operate/start-stop-upgrade', 'deploy/runbook/start-stop-upgrade.md'),
        await written('operate/sizing', 'deploy/runbook/sizing.md'),
        await written('operate/scaling-out', 'deploy/runbook/scaling-out.md'),
        await written('operate/one-machine-to-cluster', 'deploy/runbook/one-machine-to-cluster.md'),
        await written('operate/load-balancer', 'deploy/runbook/load-balancer.md'),
        await written('operate/tls-and-authentication', 'deploy/runbook/tls-and-authentication.md'),
        await written('operate/rotate-secrets-key', 'deploy/runbook/rotate-secrets-key.md'),
        await written('operate/backup-restore', 'deploy/runbook/backup-restore.md'),
        await written('operate/alerts', 'deploy/runbook/alerts.md'),
        await written('operate/faults', 'deploy/runbook/faults.md'),
        await written('tune', `${pages}/tune.md`),
      ],
    },
    {
      title: 'Deploy',
      pages: [
        await written('deploy/docker', 'deploy/docker/README.md'),
        await written('deploy/compose', 'deploy/compose/README.md'),
        await written('deploy/helm', 'deploy/helm/README.md'),
        await written('deploy/systemd', 'deploy/systemd/README.md'),
        await written('deploy/nats', 'deploy/nats/README.md'),
      ],
    },
    {
      title: 'API',
      pages: [await written('api', `${pages}/api.md`, 'Overview'), ...apis.flatMap(apiPages)],
    },
    {
      title: 'Reference',
      pages: [
        { ...made('settings', environmentPage(), 'Settings'), hasNamedRows: true },
        { ...made('metrics', metricsTable(), 'Metrics'), hasNamedRows: true },
        await written('limits', `${pages}/limits.md`),
        await written('known-limits', 'deploy/runbook/known-limits.md', 'Known limits'),
        await written('security', 'SECURITY.md', 'Security'),
        await written('changelog', 'CHANGELOG.md', 'Changelog'),
      ],
    },
  ];
}

async function written(path: string, source: string, label?: string): Promise<Page> {
  const markdown = await readFile(new URL(source, topFolder), 'utf8');
  return { path, source, markdown, ...(label === undefined ? {} : { label }) };
}

const made = (path: string, markdown: string, label: string): Page => ({ path, source: undefined, markdown, label });
