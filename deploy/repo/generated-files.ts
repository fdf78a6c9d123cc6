import { readFile } from 'node:fs/promises';
import { format } from 'oxfmt';
import { topFolder } from '../../shared/runtime/compiled-path.ts';
import { withKindsTable } from './destinations/readme-kinds.ts';
import { runbookPage } from '../prometheus/runbook-page.ts';
import { dashboards } from '../grafana/dashboards.ts';
import type { Dashboard } from '../grafana/panel.ts';
import { accountsFile, usersFile } from '../../shared/nats/users/render-users.ts';

export type GeneratedFile = {
  /** Path of the file, relative to `deploy`. */
  readonly path: string;
  readonly text: string;
};

/** Every file of `deploy` that is generated from the code, with its expected text. */
export async function generatedFiles(): Promise<GeneratedFile[]> {
  const readme = await readFile(new URL('README.md', topFolder), 'utf8');
  return [
    { path: '../README.md', text: withKindsTable(readme) },
    await formatted('runbook/alerts.md', runbookPage()),
    ...dashboards.map((dashboard) => ({
      path: `grafana/dashboards/${dashboard.uid}.json`,
      text: dashboardText(dashboard),
    })),
    { path: 'nats/accounts.conf', text: accountsFile() },
    { path: 'nats/users.conf', text: usersFile() },
  ];
}

/** JSON with one panel per line, so that a changed panel is one line of a diff. */
function dashboardText({ panels, ...rest }: Dashboard): string {
  const lines = (values: readonly unknown[]): string => values.map((value) => JSON.stringify(value)).join(',\n');
  return `${JSON.stringify(rest).slice(0, -1)},"panels":[\n${lines(panels)}\n]}\n`;
}

/** Formatted by the project's formatter, so that its check passes. */
async function formatted(path: string, text: string): Promise<GeneratedFile> {
  const { code, errors } = await format(path, text, { singleQuote: true, printWidth: 120 });
  if (errors.length > 0) throw new Error(`formatting ${path}: ${errors[0]?.message ?? ''}`);
  return { path, text: code };
}
