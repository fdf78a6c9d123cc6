import { heapOptions } from './heap-option.ts';

// For shells that start a service: node $(node dist/shared/runtime/print-heap-option.js) dist/gateway/main.js
process.stdout.write(heapOptions(process.env).join(' '));
