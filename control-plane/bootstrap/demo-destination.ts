import type { EntityManager } from '@mikro-orm/postgresql';
import type { DestinationBody } from '../../shared/collections/destinations.ts';
import type { SnapshotEntity } from '../../shared/contracts/config/account-config.ts';
import { isJsonObject } from '../../shared/runtime/json.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { ConfigEntity } from '../../shared/postgres/entities.ts';
import { isSealed } from '../../shared/contracts/config/secrets.ts';
import type { SecretBox } from '../../shared/contracts/config/secrets.ts';
import { patchDestination } from '../destinations/edit-destinations.ts';
import { requiresApproval } from '../account/endpoints.ts';
import { lockAccount } from '../draft/edit-entities.ts';
import type { Editing } from '../draft/edit-entities.ts';
import type { Principal } from '../api/define-endpoint.ts';
import { publishVersion } from '../versions/publish-version.ts';
import { insertVersion, liveContent } from '../versions/version-store.ts';

/** The address that the demo destination delivers to. */
export function demoUrl(sinkUrl: string): string {
  return `${sinkUrl.replace(/\/+$/, '')}/demo`;
}

/**
 * Points the demo destination at a sink that has moved to another port, and publishes only this change of the draft.
 * Leaves the destination unchanged if a user has given it another address or a secret.
 */
export async function moveDemoDestination(
  em: EntityManager,
  accountId: string,
  sinkUrl: string,
  { secretBox, limits, now }: Omit<Editing, 'em' | 'principal'> & { readonly secretBox: SecretBox },
): Promise<void> {
  await lockAccount(em, accountId);
  const oldest = { orderBy: { createdAt: 'asc', id: 'asc' }, limit: 1 } as const;
  const [row] = await em.find(ConfigEntity, { accountId, collection: 'destinations' }, oldest);
  const wanted = demoUrl(sinkUrl);
  if (row === undefined || !isMovedDemo((row.body as DestinationBody).settings, wanted)) return;
  const principal: Principal = {
    accountId,
    kind: 'tool',
    id: 'bootstrap',
    name: 'bootstrap',
    scopes: ['all'],
    expiresAt: null,
  };
  const editing: Editing = { em, principal, now, limits };
  await patchDestination(editing, secretBox, row.id, { settings: { httpDestinationUrl: wanted } });
  await em.flush();
  const live = await liveContent(em, accountId);
  const moved = live.destinations.map((entity) => withUrl(entity, row.id, wanted));
  if (moved.every((entity, index) => entity === live.destinations[index])) return;
  // The change goes live with the next approved version.
  if (await requiresApproval(em, accountId)) return;
  const content = { ...live, destinations: moved };
  const notes = 'The demo sink has moved to another port.';
  const version = await insertVersion(em, accountId, { name: 'Demo sink moved', notes, content }, now);
  await publishVersion(editing, version.id, Number.POSITIVE_INFINITY);
}

function withUrl(entity: SnapshotEntity, id: string, url: string): SnapshotEntity {
  const settings = entity['settings'];
  if (entity.id !== id || !isJsonObject(settings) || holdsSecret(settings)) return entity;
  return { ...entity, settings: { ...settings, httpDestinationUrl: url } };
}

function holdsSecret(settings: JsonObject): boolean {
  return Object.values(settings).some(isSealed);
}

function isMovedDemo(settings: DestinationBody['settings'], wanted: string): boolean {
  const url = settings?.['httpDestinationUrl'];
  if (typeof url !== 'string' || url === wanted || !URL.canParse(url) || holdsSecret(settings ?? {})) return false;
  const { hostname, pathname } = new URL(url);
  return pathname === '/demo' && ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
}
