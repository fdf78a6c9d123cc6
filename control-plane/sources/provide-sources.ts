import { createSourceSecretBox } from '../../shared/contracts/config/secrets.ts';
import type { Services } from '../api/services.ts';
import { ingestUrl, readIngestUrl } from './ingest-url.ts';
import { sourceSecrets } from './source-secrets.ts';

type SourceVariables = Parameters<typeof createSourceSecretBox>[0] & Parameters<typeof readIngestUrl>[0];

export function provideSources(env: SourceVariables, services: Services): void {
  services.provide(sourceSecrets, createSourceSecretBox(env));
  services.provide(ingestUrl, readIngestUrl(env));
}
