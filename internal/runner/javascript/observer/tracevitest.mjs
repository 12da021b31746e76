// The first setup file of every worker of vitest: what a test file does is
// handed over when its tests are over.
import { createRequire } from 'node:module';
import { afterAll } from 'vitest';

const { take } = createRequire(import.meta.url)('./trace.cjs');
afterAll(() => take());
