import { expect, test } from 'vitest';
import { startTestNats } from '../../testing/servers.ts';
import { client } from './client.ts';
import { connectLog } from './connection.ts';
import { logAccess } from './log-access.ts';

// An operator, a system account, an account with JetStream and a user of that account, all created for this test alone.
const operatorJwt = [
  'eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ.eyJqdGkiOiJvcGVyYXRvciIsImlhdCI6MTcwMDAwMDAwMCwiaXNzI',
  'joiT0NXUlIyNldKQ0tHMk5FNTVOUk1TNlJRTUJOQk1ITlA1M0tXRDU1V0ZGNzNCN1paQVhQSUJRWTMiLCJuYW1lIjoib3BlcmF0b',
  '3IiLCJzdWIiOiJPQ1dSUjI2V0pDS0cyTkU1NU5STVM2UlFNQk5CTUhOUDUzS1dENTVXRkY3M0I3WlpBWFBJQlFZMyIsIm5hdHMiO',
  'nsidHlwZSI6Im9wZXJhdG9yIiwic3lzdGVtX2FjY291bnQiOiJBQUZDTklaR1VPR0lPUVlVVktIQlBWSU5JNzVLSk42U1dMUUlaW',
  'lBPNkREWkJEVEtINjNGVkhTNSIsInZlcnNpb24iOjJ9fQ.K2Vakkgr6nzBynmZBgD6zguL7AP-rhvw0c1BeFYhV1xErLaOz8tH0h',
  'EMVC6CzFyX1ad6GPou3EHtcxRXJzGWBw',
].join('');
const systemAccount = 'AAFCNIZGUOGIOQYUVKHBPVINI75KJN6SWLQIZZPO6DDZBDTKH63FVHS5';
const systemJwt = [
  'eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ.eyJqdGkiOiJTWVMiLCJpYXQiOjE3MDAwMDAwMDAsImlzcyI6Ik9DV',
  '1JSMjZXSkNLRzJORTU1TlJNUzZSUU1CTkJNSE5QNTNLV0Q1NVdGRjczQjdaWkFYUElCUVkzIiwibmFtZSI6IlNZUyIsInN1YiI6I',
  'kFBRkNOSVpHVU9HSU9RWVVWS0hCUFZJTkk3NUtKTjZTV0xRSVpaUE82RERaQkRUS0g2M0ZWSFM1IiwibmF0cyI6eyJsaW1pdHMiO',
  'nsic3VicyI6LTEsImNvbm4iOi0xLCJsZWFmIjotMSwiaW1wb3J0cyI6LTEsImV4cG9ydHMiOi0xLCJkYXRhIjotMSwicGF5bG9hZ',
  'CI6LTEsIndpbGRjYXJkcyI6dHJ1ZX0sInR5cGUiOiJhY2NvdW50IiwidmVyc2lvbiI6Mn19.y8vbJNNFIMScklJU45GclKGaAMNs',
  'zbDMF_Evu0wyITm95w3zvVGo84vzPDB6LT_WlCvxbIGZ8Wsr0yNM5zZFDA',
].join('');
const account = 'ACHD6PBZ5NRSGAOWN6LQEKW2E2AMAKMGZDK5DQ44Y63JMFU4ONORFYUE';
const accountJwt = [
  'eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ.eyJqdGkiOiJzbHVpY2UiLCJpYXQiOjE3MDAwMDAwMDAsImlzcyI6I',
  'k9DV1JSMjZXSkNLRzJORTU1TlJNUzZSUU1CTkJNSE5QNTNLV0Q1NVdGRjczQjdaWkFYUElCUVkzIiwibmFtZSI6InNsdWljZSIsI',
  'nN1YiI6IkFDSEQ2UEJaNU5SU0dBT1dONkxRRUtXMkUyQU1BS01HWkRLNURRNDRZNjNKTUZVNE9OT1JGWVVFIiwibmF0cyI6eyJsa',
  'W1pdHMiOnsic3VicyI6LTEsImNvbm4iOi0xLCJsZWFmIjotMSwiaW1wb3J0cyI6LTEsImV4cG9ydHMiOi0xLCJkYXRhIjotMSwic',
  'GF5bG9hZCI6LTEsIndpbGRjYXJkcyI6dHJ1ZSwibWVtX3N0b3JhZ2UiOi0xLCJkaXNrX3N0b3JhZ2UiOi0xLCJzdHJlYW1zIjotM',
  'SwiY29uc3VtZXIiOi0xfSwidHlwZSI6ImFjY291bnQiLCJ2ZXJzaW9uIjoyfX0.J7DmSUHFTp7TPUTI7ILCzPETwzGyajoCOcuv6',
  'SjmPrI0aRPDOzYbLyCWLpRIp4oe12S1PYvveHgHU2twJxIjDQ',
].join('');
const userJwt = [
  'eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ.eyJqdGkiOiJnYXRld2F5IiwiaWF0IjoxNzAwMDAwMDAwLCJpc3MiO',
  'iJBQ0hENlBCWjVOUlNHQU9XTjZMUUVLVzJFMkFNQUtNR1pESzVEUTQ0WTYzSk1GVTRPTk9SRllVRSIsIm5hbWUiOiJnYXRld2F5I',
  'iwic3ViIjoiVUJWNVIyUlozT1VJU1JQN0cyQ1hBVFlRQUtIU05LRFk2SUtWWEZNUlNDTlJINTZHTk9WNzRXNUciLCJuYXRzIjp7I',
  'nB1YiI6e30sInN1YiI6e30sInN1YnMiOi0xLCJkYXRhIjotMSwicGF5bG9hZCI6LTEsInR5cGUiOiJ1c2VyIiwidmVyc2lvbiI6M',
  'n19.50RB3yn0Mvv67SKBMREBg86QhC76hO1jcoU-CZX9HdBNw8wtgo5P8EPITz4uireuhqpSxV5VhMXjQlFGtE8UAw',
].join('');
const userSeed = 'SUAODJG2BGGRTX7UM4YVEJ2YIPPUKGHYSWVMB6YMU6KIHAEHL2YHVEIKWQ';

const config = [
  `operator: ${operatorJwt}`,
  `system_account: ${systemAccount}`,
  'resolver: MEMORY',
  `resolver_preload: { ${systemAccount}: ${systemJwt}, ${account}: ${accountJwt} }`,
].join('\n');

/** As `nsc generate creds` writes it. */
const creds = [
  '-----BEGIN NATS USER JWT-----',
  userJwt,
  '------END NATS USER JWT------',
  '',
  '-----BEGIN USER NKEY SEED-----',
  userSeed,
  '------END USER NKEY SEED------',
  '',
].join('\n');

test('login: a credentials file is accepted, and without it the error names NATS_CREDS', async () => {
  const server = await startTestNats({ furtherConfig: config });
  const access = logAccess({ NATS_URL: server.url, NATS_CREDS: creds });
  try {
    const connection = await connectLog({ ...access, name: 'test', connectTimeoutMs: 30_000 });
    expect((await connection[client].jsm.getAccountInfo()).streams).toBe(0);
    await connection.close();
    await expect(connectLog({ url: server.url, name: 'test' })).rejects.toThrow(/refuses the login.*NATS_CREDS/);
  } finally {
    await server.stop();
  }
});
