import type { ErasureOrder } from '../sdk/erasure.ts';

/** The erasure of a person of whom every kind of identifier is known. */
export const sampleErasure: ErasureOrder = {
  subject: {
    visitorIds: ['device-1'],
    externalIds: ['customer-7'],
    emails: ['ann@example.com'],
    phones: ['+41791234567'],
  },
  id: '0192f0c0-0000-7000-8000-000000000001',
  requestedAtMs: Date.UTC(2026, 10, 27),
  dueAtMs: Date.UTC(2026, 11, 27),
  isSuppressed: false,
};
