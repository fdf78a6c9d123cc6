import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../../shared/embedded/machine/run-command.ts';
import { compiledPath, topFolder } from '../../../shared/runtime/compiled-path.ts';
import { inheritedEnv } from '../../machine/env.ts';
import { sleep } from '../../machine/wait-until.ts';
import type { ControlAccess } from '../../system/control-client.ts';
import { restartInTurn } from '../stack/actions.ts';
import { startFaultDestination } from '../stack/destination.ts';
import type { FaultStack } from '../stack/stack.ts';
import { defineFault } from './fault.ts';

const harms = ['configuration', 'control-plane', 'pipelines'] as const;
const publishes = 10;
const settleMs = 1_000;

export const published = defineFault({
  name: 'published-under-load',
  about: `${publishes} versions are published one after the other, each with a different setting of a third destination`,
  sees: 'Nothing: each process swaps its whole plan between two events. `sluice_config_revision` rises in every process.',
  does: 'Nothing. `SluiceRevisionsApart` fires if a process stays on an older revision.',
  harms,
  run: ({ stack }) =>
    withBystander(stack, async (id) => {
      for (let round = 1; round <= publishes; round += 1) {
        await untilAnswered(() => stack.control.call('PATCH', `destinations/${id}`, { name: `bystander ${round}` }));
        await untilAnswered(() => stack.control.publish());
      }
    }),
});

export const rolledBack = defineFault({
  name: 'rolled-back-under-load',
  about: 'a version with a third destination and the version before it are made live in turn, five times',
  sees: 'Nothing at the destinations that both versions have. The third one gets events while it is live; when it is removed, its dispatcher ends.',
  does: 'Nothing. A destination never gets events from a time when it was not live.',
  harms,
  async run({ stack }) {
    const { control } = stack;
    const without = await untilAnswered(() => control.publish());
    await withBystander(stack, async () => {
      const having = await untilAnswered(() => control.publish());
      for (let round = 0; round < 5; round += 1) {
        await untilAnswered(() => control.call('POST', `versions/${without}/publish`, { force: true }));
        await sleep(settleMs);
        await untilAnswered(() => control.call('POST', `versions/${having}/publish`));
        await sleep(settleMs);
      }
    });
  },
});

export const deleted = defineFault({
  name: 'deleted-under-load',
  about: 'a third destination is created, gets events and is deleted, 3 times',
  sees: 'Nothing at the other destinations. Events waiting for the deleted one are deleted with it.',
  does: 'Nothing.',
  harms,
  async run({ stack }) {
    for (let round = 0; round < 3; round += 1) await withBystander(stack, () => sleep(settleMs));
  },
});

export const sourceKeyRotated = defineFault({
  name: 'source-key-rotated',
  about: 'the source gets new keys, and visitors use them from then on',
  sees: 'Requests with the old key are answered 401 from that moment (`sluice_gateway_requests_total` by status), until their clients have the new one.',
  does: 'Create a second source for clients that cannot change at once, and rotate the keys after they have moved to it.',
  harms: ['configuration', 'control-plane'],
  async run({ stack }) {
    const id = await untilAnswered(() => sourceIdOf(stack.control));
    // If the answer is lost, rotates again, because without the new key all further requests would be rejected.
    const { token } = await untilAnswered(() => stack.control.call('POST', `sources/${id}/tokens/rotate`));
    if (typeof token !== 'string') throw new Error('rotating the source keys: the answer has no token');
    stack.token = token;
  },
});

export const secretsKeyRotated = defineFault({
  name: 'secrets-key-rotated',
  about: 'SECRETS_KEY is replaced as the runbook describes, in three rounds of restarts, with `reseal` before the last',
  sees: 'Nothing but the restarts. The doctor’s `key rotation` shows the remaining rows.',
  does: 'Follow the steps of [rotate-secrets-key.md](rotate-secrets-key.md), in their order.',
  harms,
  isAlone: true,
  async run({ stack, say }) {
    const services = [stack.controlPlane, ...stack.pipelines];
    const old = stack.secretsKey;
    const next = randomBytes(32).toString('base64');
    const restartWith = async (env: Readonly<Record<string, string>>): Promise<void> => {
      for (const service of services) service.runAs({ env });
      await restartInTurn(services);
    };
    await restartWith({ SECRETS_KEY: old, SECRETS_KEY_PREVIOUS: next });
    await restartWith({ SECRETS_KEY: next, SECRETS_KEY_PREVIOUS: old });
    const reseal = compiledPath(new URL('control-plane/reseal.ts', topFolder));
    const env = { ...inheritedEnv(), ...stack.commandEnv, SECRETS_KEY: next, SECRETS_KEY_PREVIOUS: old };
    const { stdout } = await runCommand(process.execPath, [reseal], {
      timeoutMs: 60_000,
      env,
      cwd: fileURLToPath(topFolder),
    });
    say(stdout.trim().split('\n').at(-1) ?? '');
    await restartWith({ SECRETS_KEY: next });
  },
});

const answerDeadlineMs = 60_000;
const againMs = 500;

/** Retries until the control plane, which may still be starting, answers; throws its last failure at the deadline. */
async function untilAnswered<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  const deadline = performance.now() + answerDeadlineMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(againMs);
    }
  }
}

/** Keeps a third destination live while `work` runs, then deletes it. Its deliveries are not judged. */
async function withBystander(stack: FaultStack, work: (id: string) => Promise<void>): Promise<void> {
  const { control } = stack;
  const bystander = await startFaultDestination('bystander');
  try {
    const made = await untilAnswered(() =>
      control.call('POST', 'destinations', {
        name: `bystander ${randomBytes(4).toString('hex')}`,
        type: 'HTTPDestination',
        settings: { httpDestinationUrl: bystander.url },
      }),
    );
    const id = String(made['id']);
    await untilAnswered(() => control.publish());
    await work(id);
    await control.call('DELETE', `destinations/${id}`);
    await untilAnswered(() => publishAllTheSame(control));
  } finally {
    await bystander.close();
  }
}

/** Publishes the draft even if events still wait for a destination that the draft removes. */
async function publishAllTheSame(control: ControlAccess): Promise<void> {
  const { id } = await control.call('POST', 'versions', { name: 'without the bystander' });
  await control.call('POST', `versions/${String(id)}/publish`, { force: true });
}

/**
 * Id of the visitors' source. The stack created this source first, and the list begins with the newest one, so it is
 * the last entry.
 */
async function sourceIdOf(control: ControlAccess): Promise<string> {
  const { entities } = (await control.call('GET', 'sources')) as {
    readonly entities?: readonly { readonly id: string }[];
  };
  const source = entities?.at(-1);
  if (source === undefined) throw new Error('listing sources: there are no sources');
  return source.id;
}
