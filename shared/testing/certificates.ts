import { generate } from 'selfsigned';

/** PEM texts. */
export type Certificate = { readonly cert: string; readonly key: string };

/** A certificate authority for one test, which signs certificates for servers on loopback and for clients. */
export type TestAuthority = {
  /** The authority's own certificate, as PEM text. */
  readonly ca: string;
  server(): Promise<Certificate>;
  /** A client's certificate with `name` as the common name. */
  client(name: string): Promise<Certificate>;
  /** A server's certificate that was valid until yesterday. */
  expiredServer(): Promise<Certificate>;
};

const dayMs = 86_400_000;
const common = { keyType: 'ec', algorithm: 'sha256' } as const;

export async function createTestAuthority(name = 'test authority'): Promise<TestAuthority> {
  const own = await generate([{ name: 'commonName', value: name }], {
    ...common,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  const authority = { key: own.private, cert: own.cert };
  const sign = async (commonName: string, notBeforeDate: Date, notAfterDate: Date): Promise<Certificate> => {
    const signed = await generate([{ name: 'commonName', value: commonName }], {
      ...common,
      ca: authority,
      notBeforeDate,
      notAfterDate,
      extensions: [
        { name: 'basicConstraints', cA: false },
        { name: 'keyUsage', digitalSignature: true },
        { name: 'extKeyUsage', serverAuth: true, clientAuth: true },
        {
          name: 'subjectAltName',
          altNames: [
            { type: 2, value: 'localhost' },
            { type: 7, ip: '127.0.0.1' },
          ],
        },
      ],
    });
    return { cert: signed.cert, key: signed.private };
  };
  const days = (count: number): Date => new Date(Date.now() + count * dayMs);
  return {
    ca: own.cert,
    server: () => sign('localhost', days(-1), days(30)),
    client: (commonName) => sign(commonName, days(-1), days(30)),
    expiredServer: () => sign('localhost', days(-30), days(-1)),
  };
}
