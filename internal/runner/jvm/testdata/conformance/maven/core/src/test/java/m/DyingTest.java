package m;

import org.junit.jupiter.api.Test;

class DyingTest {
    @Test
    void halts() {
        Runtime.getRuntime().halt(0);
    }

    @Test
    void stands() {}
}
