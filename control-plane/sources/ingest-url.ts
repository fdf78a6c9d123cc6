import { text } from '../../shared/runtime/variables.ts';
import { defineService } from '../api/services.ts';

export const ingestUrlEnv = {
  INGEST_URL: text('Address of the gateways as clients reach it; stands in what is to be pasted into pages', {
    pattern: '^https?://[^\\s]+$',
    mustBe: 'an http or https URL',
    default: 'http://localhost:8080',
  }),
};

/** Address of the gateways as clients reach it. */
export const ingestUrl = defineService<string>('ingest URL');
