<?php
// Says at the end of a process from where the changed files were loaded: a file of
// the same name and namespace stands for one.
(static function (): void {
    $plan = __DIR__ . '/subjects.txt';
    $out = getenv('TOUCHSTONE_LOADED');
    $root = getenv('TOUCHSTONE_ROOT');
    if (!$out || !is_file($plan)) {
        return;
    }
    putenv('TOUCHSTONE_LOADED');
    register_shutdown_function(static function () use ($plan, $out, $root): void {
        $namespace = static fn (string $file): string => is_readable($file) && preg_match('/^\s*namespace\s+([\w\\\\]+)/m', (string) file_get_contents($file), $m) ? $m[1] : '';
        foreach (file($plan, FILE_IGNORE_NEW_LINES | FILE_SKIP_EMPTY_LINES) as $subject) {
            $own = "$root/$subject";
            foreach (get_included_files() as $file) {
                $same = $file === $own;
                if ($same || basename($file) === basename($subject) && $namespace($file) !== '' && $namespace($file) === $namespace($own)) {
                    file_put_contents($out, 'L ' . json_encode(['Subject' => $subject, 'File' => $file, 'SHA256' => hash_file('sha256', $file), 'InTree' => $same]) . "\n", FILE_APPEND);
                    break;
                }
            }
        }
    });
})();
