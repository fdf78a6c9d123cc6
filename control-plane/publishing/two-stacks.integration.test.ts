import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../shared/testing/servers.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';

let plane: TestControlPlane;

beforeAll(async () => {
  plane = await startTestControlPlane();
});
afterAll(() => plane.stop());

test('two stacks: a control plane with the database of another deployment is refused', async () => {
  const database = await createTestDatabase();
  try {
    await expect(plane.startAnother({ DATABASE_URL: database.url })).rejects.toThrow(
      /the log at NATS_URL belongs to deployment .*the database at DATABASE_URL/,
    );
  } finally {
    await database.drop();
  }
});

test('two stacks: more replicas than the log can keep are refused', async () => {
  await expect(plane.startAnother({ LOG_REPLICAS: 3 })).rejects.toThrow(/LOG_REPLICAS is 3/);
});
