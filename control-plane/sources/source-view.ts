import { Type } from 'typebox';
import { enabledStatus, nullable } from '../../shared/contracts/config/define-collection.ts';
import type { EnabledStatus } from '../../shared/contracts/config/define-collection.ts';
import { sources } from '../../shared/collections/sources.ts';
import type { SourceBody } from '../../shared/collections/sources.ts';
import type { InvalidEvent } from '../../shared/contracts/source-activity.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import type { ConfigEntityRow } from '../../shared/postgres/entities.ts';
import { replySchema, viewEntity } from '../collections/entity-schemas.ts';
import type { LiveValues } from '../health/live-values.ts';
import { installScript } from '../../shared/web-snippet/web-snippet.ts';
import type { SourceTokens } from './create-source.ts';
import { maskSourceSecrets } from './source-secrets.ts';

const instant = Type.String({ format: 'date-time' });

/** The newest event of a source that was not valid. */
export const invalidReply = Type.Object(
  {
    at: instant,
    problem: Type.String({ description: 'The problem, with the name of the field and without its value.' }),
  },
  { description: 'The newest event that was refused as not valid, and why.' },
);

export function viewInvalid(event: InvalidEvent | null): { readonly at: string; readonly problem: string } | null {
  return event === null ? null : { at: new Date(event.at).toISOString(), problem: event.problem };
}

/** A source as the interface returns it. */
export const sourceReply = replySchema(sources, {
  accountId: Type.String(),
  isPublished: nullable(Type.Boolean()),
  liveStatus: nullable(enabledStatus),
  lastTriggeredAt: nullable(instant),
  lastDispatchedAt: nullable(instant),
  lastInvalid: nullable(invalidReply),
});

/** A source with its current state. */
export function viewSource(
  row: ConfigEntityRow,
  live: ReadonlyMap<string, EnabledStatus>,
  values: Pick<LiveValues, 'lastTriggeredAt' | 'lastDispatchedAt' | 'lastInvalid'>,
): JsonObject {
  return {
    ...maskSourceSecrets(viewEntity(sources, row)),
    accountId: row.accountId,
    isPublished: live.has(row.id),
    liveStatus: live.get(row.id) ?? null,
    lastTriggeredAt: isoOrNull(values.lastTriggeredAt(row.id)),
    lastDispatchedAt: isoOrNull(values.lastDispatchedAt(row.id)),
    lastInvalid: viewInvalid(values.lastInvalid(row.id)),
  };
}

function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** A source's keys as the interface returns them. */
export const tokensReply = Type.Object({
  ingestUrl: Type.String({ description: 'Address of the gateways (`INGEST_URL`), without a trailing slash.' }),
  token: Type.String(),
  testToken: Type.String({ description: 'Events sent with it are validated and never dispatched.' }),
  secret: nullable(
    Type.String({
      description:
        "Signs identifiers of visitors for `userHash`, so that events of a public key count as a server's. For servers only: " +
        'never put it into a page or an app. Null for server sources, and until POST /rest/v1/sources/{id}/secret/rotate creates it.',
    }),
  ),
  installScript: nullable(
    Type.String({ description: 'To be pasted into the pages of a WebSource; null for other types.' }),
  ),
  testInstallScript: nullable(Type.String({ description: 'The installScript with the testToken.' })),
});

/** A source's keys, with the scripts and addresses that contain them. */
export function viewTokens(
  row: ConfigEntityRow,
  { token, testToken, secret }: SourceTokens & { readonly secret: string | null },
  ingestUrl: string,
) {
  const isWeb = (row.body as SourceBody).type === 'WebSource';
  return {
    ingestUrl: ingestUrl.replace(/\/+$/, ''),
    token,
    testToken,
    secret,
    installScript: isWeb ? installScript(ingestUrl, token) : null,
    testInstallScript: isWeb ? installScript(ingestUrl, testToken) : null,
  };
}
