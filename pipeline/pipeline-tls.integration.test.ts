import { randomUUID } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { migrate } from '../shared/postgres/migrate.ts';
import { createTestAuthority } from '../shared/testing/certificates.ts';
import { createTestDatabase, startTestNats } from '../shared/testing/servers.ts';
import { httpEntity } from './testing/account-config.ts';
import { openRig, startOn } from './testing/open-rig.ts';
import { until } from '../shared/testing/until.ts';

test('pipeline: its threads connect to a log that requires a certificate and a password from every client', async () => {
  const authority = await createTestAuthority();
  const [server, client] = [await authority.server(), await authority.client('pipeline')];
  const folder = await mkdtemp(join(inject('testRunFolder'), 'pipeline-tls-'));
  const put = async (name: string, text: string): Promise<string> => {
    await writeFile(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const config = [
    'tls {',
    `  cert_file: ${JSON.stringify(await put('server.pem', server.cert))}`,
    `  key_file: ${JSON.stringify(await put('server-key.pem', server.key))}`,
    `  ca_file: ${JSON.stringify(await put('ca.pem', authority.ca))}`,
    '  verify: true',
    '}',
    'authorization { user: "sluice", password: "secret" }',
  ];
  const nats = await startTestNats({ furtherConfig: config.join('\n') });
  onTestFinished(() => nats.stop());
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  await migrate(database.url);

  const { rig, sink } = await openRig(nats.url, database.url, {
    NATS_CA_FILE: join(folder, 'ca.pem'),
    NATS_CERT_FILE: await put('client.pem', client.cert),
    NATS_KEY_FILE: await put('client-key.pem', client.key),
    NATS_USER: 'sluice',
    NATS_PASSWORD_FILE: await put('password', 'secret\n'),
  });
  const account = randomUUID();
  await rig.configure(account, { destinations: [httpEntity(randomUUID(), sink.url)] });
  await startOn(rig);
  await rig.accept(account, [{ id: 'sealed' }]);
  await until('it arrived', () => sink.taken().join() === 'sealed');
  expect(sink.requests).toHaveLength(1);
}, 180_000);
