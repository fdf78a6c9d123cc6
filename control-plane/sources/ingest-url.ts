import { defineSettings, fromEnv } from '../../shared/runtime/settings.ts';
import { text } from '../../shared/runtime/variables.ts';
import { defineService } from '../api/services.ts';

export const { variables: ingestUrlEnv, read: readIngestUrl } = defineSettings(
  fromEnv({
    INGEST_URL: text('Address of the gateways as clients reach it; part of the code that is pasted into pages', {
      pattern: '^https?://[^\\s]+$',
      mustBe: 'an http or https URL',
      default: 'http://localhost:8080',
    }),
  }),
);

/** Address of the gateways as clients reach it. */
export const ingestUrl = defineService<string>('ingest URL');
