import { createServer } from 'node:http';

/** Plays a bad destination: `/alternate` refuses for good and for now in turn, `/fail-half` takes one and fails the next, and everything else never answers. */
const port = Number(process.argv[2]);
let requests = 0;

createServer((request, response) => {
  request.resume();
  const isHalf = request.url === '/fail-half';
  if (!isHalf && request.url !== '/alternate') return;
  request.on('end', () => {
    requests += 1;
    const odd = isHalf ? 503 : 500;
    response.writeHead(requests % 2 === 0 ? (isHalf ? 200 : 400) : odd).end();
  });
}).listen(port, '127.0.0.1', () => process.send?.('ready'));
