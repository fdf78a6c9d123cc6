import { format } from 'oxfmt';
import { replyTypes } from './console/reply-types.ts';
import { runbookPage } from './prometheus/runbook-page.ts';
import { dashboards } from './grafana/dashboards.ts';
import { accountsFile, usersFile } from '../shared/nats/users/render-users.ts';

export type GeneratedFile = {
  /** From this folder. */
  readonly path: string;
  readonly text: string;
};

/** Every file of this folder that is made from the code, as it should be. */
export async function generatedFiles(): Promise<GeneratedFile[]> {
  const formattedFiles = await Promise.all([
    formatted('../control-plane/console/api/replies.ts', replyTypes()),
    formatted('runbook/alerts.md', runbookPage()),
    ...dashboards.map((dashboard) =>
      formatted(`grafana/dashboards/${dashboard.uid}.json`, JSON.stringify(dashboard, undefined, 2)),
    ),
  ]);
  // Of a format that the formatter does not know.
  return [
    ...formattedFiles,
    { path: 'nats/accounts.conf', text: accountsFile() },
    { path: 'nats/users.conf', text: usersFile() },
  ];
}

/** As the project's own formatter wants it, so that it has nothing to complain about. */
async function formatted(path: string, text: string): Promise<GeneratedFile> {
  const { code, errors } = await format(path, text, { singleQuote: true, printWidth: 120 });
  if (errors.length > 0) throw new Error(`formatting ${path}: ${errors[0]?.message ?? ''}`);
  return { path, text: code };
}
