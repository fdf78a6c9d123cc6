import type { Services } from '../api/services.ts';
import { announceRefusals, createAnnounceRefusals } from './announce-refusals.ts';
import type { AnnounceRefusalsParts } from './announce-refusals.ts';
import { visitorBytesMax } from './merge-endpoints.ts';

export function provideVisitors(
  env: { readonly VISITOR_BYTES_MAX: number },
  parts: AnnounceRefusalsParts,
  services: Services,
): void {
  services.provide(visitorBytesMax, env.VISITOR_BYTES_MAX);
  services.provide(announceRefusals, createAnnounceRefusals(parts));
}
