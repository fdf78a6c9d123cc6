import { readFileSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';

/** A destination that speaks both versions of HTTP, and answers at once. Tells its port. */
const [, , certFile = '', keyFile = ''] = process.argv;
const server = createSecureServer({ allowHTTP1: true, cert: readFileSync(certFile), key: readFileSync(keyFile) });

server.on('request', (request, response) => {
  request.resume();
  request.on('end', () => {
    response.setHeader('content-type', 'application/json');
    response.end('{"received":true}');
  });
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
