import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';
import { createLibraryClient } from './testing/library-client.ts';
import type { LibraryClient } from './testing/library-client.ts';

let plane: TestControlPlane;
let library: LibraryClient;
const made = new Map<string, string>();

async function make(path: string, body: object): Promise<string> {
  const answer = await library.post(path, body);
  expect([path, answer.status, answer.body]).toEqual([path, 200, expect.anything()]);
  made.set(path.slice(1), answer.body.id);
  return answer.body.id;
}

beforeAll(async () => {
  plane = await startTestControlPlane();
  library = createLibraryClient(plane.baseUrl, await plane.newAccount());
  const settings = { httpDestinationUrl: 'https://example.com/' };
  const destinationId = await make('/destinations', { type: 'HTTPDestination', name: 'Hooks', settings });
  await make('/sources', { type: 'WebSource', name: 'Shop' });
  const allowedEventId = await make('/allowed-events', { name: 'Purchase', destinationIds: [destinationId] });
  await make('/mappings', { allowedEventId, destinationId });
  made.set('default-mappings', destinationId);
  await make('/consent-settings', {});
  const rules = await make('/data-governance', { notes: 'why' });
  const logic = { condition: { property: 'event.event', operator: 'Is', value: 'Purchase' } };
  const categories = [{ name: 'All', destinationIds: [destinationId], logic }, { name: 'None' }];
  await library.patch(`/data-governance/${rules}`, { categories });
  const experimentSettingsId = await make('/experiment-settings', {});
  const experimentId = await make('/experiments', {
    experimentSettingsId,
    name: 'Headline',
    targetingRules: { urlPatterns: ['/pricing'], queryParams: [{ key: 'beta', operator: 'exists' }] },
    metrics: { primary: { eventName: 'Purchase' } },
  });
  const variant = {
    experimentId,
    name: 'B',
    weight: 40,
    variantType: 'redirect',
    redirectUrl: 'https://example.com/b',
  };
  await make('/experiment-variants', variant);
  const { variants } = (await library.get(`/experiments/${experimentId}`)).body;
  made.set('control', variants.find(({ isControl }: { isControl: boolean }) => isControl).id);
  await make('/versions', { name: 'First' });
});
afterAll(() => plane?.stop());

const pathOf = (of: string): string => `/${of === 'control' ? 'experiment-variants' : of}/${made.get(of)}`;

test.each([
  ['destinations', 'patch'],
  ['sources', 'patch'],
  ['versions', 'patch'],
  ['allowed-events', 'patch'],
  ['mappings', 'patch'],
  ['default-mappings', 'put'],
  ['consent-settings', 'patch'],
  ['consent-settings', 'put'],
  ['data-governance', 'patch'],
  ['experiment-settings', 'patch'],
  ['experiments', 'patch'],
  ['experiment-variants', 'patch'],
  ['control', 'patch'],
  ['account', 'patch'],
] as const)('returned fields: what GET answers for %s may be sent back by %s', async (of, method) => {
  const path = of === 'account' ? '/account' : pathOf(of);
  const read = await library.get(path);
  expect(read.status).toBe(200);
  if (of === 'data-governance') expect(read.body.categories).toHaveLength(2);
  const written = await library[method](path, read.body);
  expect([written.status, written.body.error]).toEqual([200, undefined]);
  const again = await library.get(path);
  // A default mapping gets its own id when it is written.
  const own = of === 'default-mappings' ? { id: again.body.id } : {};
  expect(again.body).toEqual({ ...read.body, ...own, updatedAt: again.body.updatedAt });
});

test.each([
  ['data-governance', { kind: 'other' }, /^kind is read-only/],
  ['experiments', { status: 'completed' }, /^status is read-only/],
  ['experiments', { key: 'another' }, /^key cannot change after creation; the key is headline/],
  ['experiment-variants', { experimentId: 'another' }, /^experimentId is read-only/],
  ['mappings', { priority: 7 }, /^priority is read-only/],
  ['allowed-events', { id: 'another' }, /^id is read-only/],
  ['experiment-settings', { pixel: 'another' }, /^pixel is read-only/],
  ['data-governance', { flavour: 1 }, /^flavour is not a known field/],
  ['control', { weight: 7 }, /^weight: the control/],
])('returned fields: %s with %o is refused', async (of, change, problem) => {
  const { body } = await library.get(pathOf(of));
  const answer = await library.patch(pathOf(of), { ...body, ...change });
  expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(problem)]);
});
